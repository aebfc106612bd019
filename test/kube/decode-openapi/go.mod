module lattice.dev/test-kube/decode-openapi

go 1.26.0

require (
	github.com/google/gnostic-models v0.7.0
	google.golang.org/protobuf v1.35.1
	k8s.io/kube-openapi v0.0.0-20260317180543-43fb72c5454a
)

require (
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/jsonreference v0.20.1 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	go.yaml.in/yaml/v3 v3.0.3 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
)
