"""pytest and the official Python client against `lattice api-server`: any language that reads a kubeconfig can do the same."""

import os
import subprocess

import pytest
from kubernetes import client, config


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    kubeconfig = tmp_path_factory.mktemp("lattice") / "kubeconfig"
    lattice = os.environ.get("LATTICE", "lattice").split()
    server = subprocess.Popen([*lattice, "api-server", "--kubeconfig-out", str(kubeconfig)], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()  # the one line says where it listens, when it is ready
    config.load_kube_config(str(kubeconfig))
    yield client.CoreV1Api()
    server.terminate()
    server.wait()


def test_a_config_map_is_kept(api):
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="hello"), data={"text": "Hello!"})
    created = api.create_namespaced_config_map("default", body)
    assert created.metadata.uid
    assert api.read_namespaced_config_map("hello", "default").data == {"text": "Hello!"}


def test_a_second_one_of_the_name_is_refused(api):
    with pytest.raises(client.ApiException) as refused:
        api.create_namespaced_config_map("default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="hello")))
    assert refused.value.status == 409
