// Decodes the OpenAPI documents of an API server with the types that Go clients of Kubernetes use, and reports values that
// those types cannot represent.
//
//	TOKEN=... decode-openapi http://127.0.0.1:8080
//
// Every document must decode, encode again to the same JSON (a field that a type does not have would be lost), and have
// models without dangling references.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/spec3"
	models "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	jsonType = "application/json"
	protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: TOKEN=... decode-openapi URL")
		os.Exit(2)
	}
	server := os.Args[1]
	problems := 0
	report := func(document string, err error) {
		if err != nil {
			problems++
			fmt.Printf("%s: %v\n", document, err)
		}
	}
	inJSON, err := decodeV2(server)
	report("/openapi/v2", err)
	inProtobuf, err := decodeProtobuf(server)
	report("/openapi/v2 as protobuf", err)
	if !slices.Equal(inJSON, inProtobuf) {
		report("/openapi/v2 as protobuf", errors.New("has other models than the JSON"))
	}
	paths, err := listV3(server)
	report("/openapi/v3", err)
	for _, path := range paths {
		report(path, decodeV3(server, path))
	}
	fmt.Printf("%d models in v2, %d documents in v3, %d problems\n", len(inJSON), len(paths), problems)
	if problems > 0 {
		os.Exit(1)
	}
}

func get(url, accept string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}

func decodeV2(server string) ([]string, error) {
	bytes, err := get(server+"/openapi/v2", jsonType)
	if err != nil {
		return nil, err
	}
	if err := roundTrip(bytes, &spec.Swagger{}); err != nil {
		return nil, err
	}
	document, err := openapi_v2.ParseDocument(bytes)
	if err != nil {
		return nil, err
	}
	return modelsOf(models.NewOpenAPIData(document))
}

func decodeProtobuf(server string) ([]string, error) {
	bytes, err := get(server+"/openapi/v2", protobuf)
	if err != nil {
		return nil, err
	}
	document := &openapi_v2.Document{}
	if err := proto.Unmarshal(bytes, document); err != nil {
		return nil, err
	}
	return modelsOf(models.NewOpenAPIData(document))
}

func listV3(server string) ([]string, error) {
	bytes, err := get(server+"/openapi/v3", jsonType)
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(bytes, &index); err != nil {
		return nil, err
	}
	var paths []string
	for _, document := range index.Paths {
		paths = append(paths, document.ServerRelativeURL)
	}
	slices.Sort(paths)
	return paths, nil
}

func decodeV3(server, path string) error {
	bytes, err := get(server+path, jsonType)
	if err != nil {
		return err
	}
	if err := roundTrip(bytes, &spec3.OpenAPI{}); err != nil {
		return err
	}
	document, err := openapi_v3.ParseDocument(bytes)
	if err != nil {
		return err
	}
	_, err = modelsOf(models.NewOpenAPIV3Data(document))
	return err
}

func modelsOf(found models.Models, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	return found.ListModels(), nil
}

// roundTrip decodes into the type, encodes that again, and compares.
func roundTrip(bytes []byte, document any) error {
	if err := json.Unmarshal(bytes, document); err != nil {
		return err
	}
	again, err := json.Marshal(document)
	if err != nil {
		return err
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(bytes, &want), json.Unmarshal(again, &got)); err != nil {
		return err
	}
	return difference("", want, got)
}

// difference returns the path of the first difference between two JSON values.
func difference(path string, want, got any) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	left, isLeft := want.(map[string]any)
	right, isRight := got.(map[string]any)
	if !isLeft || !isRight {
		return fmt.Errorf("%s is %s, and %s after decoding", path, show(want), show(got))
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if err := difference(path+"/"+name, left[name], right[name]); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has other fields after decoding", path)
}

func show(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil || len(bytes) > 200 {
		return fmt.Sprintf("%.200s…", bytes)
	}
	return string(bytes)
}
