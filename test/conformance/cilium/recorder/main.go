// Reads a list of {"namespaces", "pods", "policies", "queries"} and prints the verdicts of Cilium's own policy code.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"

	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	v2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/policy"
	policyapi "github.com/cilium/cilium/pkg/policy/api"
	policytypes "github.com/cilium/cilium/pkg/policy/types"
	testidentity "github.com/cilium/cilium/pkg/testutils/identity"
	testpolicy "github.com/cilium/cilium/pkg/testutils/policy"
	"github.com/cilium/cilium/pkg/u8proto"
)

type pod struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Account   string            `json:"serviceAccount"`
	Address   string            `json:"address"` // outside
	Host      string            `json:"host"`
}
type query struct {
	From, To int
	Port     uint16
	Protocol string
}
type input struct {
	Namespaces map[string]map[string]string
	Pods       []pod
	Policies   []json.RawMessage
	Queries    []query
}
type verdict struct {
	Egress  bool `json:"egress"`
	Ingress bool `json:"ingress"`
}
type output struct {
	Refused  map[string]string `json:"refused"`
	Verdicts []verdict         `json:"verdicts"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	policyapi.InitEntities("default")
	raw, err := io.ReadAll(os.Stdin)
	must(err)
	var worlds []input
	must(json.Unmarshal(raw, &worlds))
	var all []output
	for _, w := range worlds {
		all = append(all, judge(w))
	}
	out, err := json.Marshal(all)
	must(err)
	os.Stdout.Write(out)
}

func labelsOf(w input, p pod) labels.LabelArray {
	l := labels.Labels{}
	if p.Address != "" || p.Host != "" {
		if p.Address != "" {
			prefix := netip.MustParseAddr(p.Address)
			l.MergeLabels(labels.GetCIDRLabels(netip.PrefixFrom(prefix, prefix.BitLen())))
		} else {
			l.MergeLabels(labels.Labels{"world": labels.NewLabel("world", "", "reserved")})
		}
		if p.Host != "" {
			x := labels.NewLabel(p.Host, "", labels.LabelSourceFQDN)
			l[x.Key] = x
		}
		return l.LabelArray()
	}
	add := func(k, v string) { l[k] = labels.NewLabel(k, v, "k8s") }
	for k, v := range p.Labels {
		add(k, v)
	}
	add("io.kubernetes.pod.namespace", p.Namespace)
	add("io.cilium.k8s.policy.cluster", "default")
	add("io.cilium.k8s.policy.serviceaccount", p.Account)
	for k, v := range w.Namespaces[p.Namespace] {
		add("io.cilium.k8s.namespace.labels."+k, v)
	}
	return l.LabelArray()
}

func judge(w input) output {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	ids := []*identity.Identity{}
	idmap := identity.IdentityMap{}
	for i, p := range w.Pods {
		id := identity.NewIdentity(identity.NumericIdentity(1000+i), labelsOf(w, p).Labels())
		ids = append(ids, id)
		idmap[id.ID] = id.LabelArray
	}
	mgr := identitymanager.NewIDManager(logger)
	repo := policy.NewPolicyRepository(logger, idmap, nil, nil, mgr, testpolicy.NewPolicyMetricsNoop())
	repo.GetSelectorCache().SetLocalIdentityNotifier(testidentity.NewDummyIdentityNotifier())
	mgr.Subscribe(testpolicy.SelectorCacheObserver{Cache: repo.GetSubjectSelectorCache()})
	out := output{Refused: map[string]string{}}
	for _, raw := range w.Policies {
		var head struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		must(json.Unmarshal(raw, &head))
		name := head.Metadata.Namespace + "/" + head.Metadata.Name
		if head.Kind == "CiliumNetworkPolicy" {
			var p v2.CiliumNetworkPolicy
			if err := json.Unmarshal(raw, &p); err != nil {
				out.Refused[name] = err.Error()
				continue
			}
			rules, err := p.Parse(logger, "default")
			if err != nil {
				out.Refused[name] = err.Error()
				continue
			}
			repo.MustAddList(rules)
		} else {
			var p v2.CiliumClusterwideNetworkPolicy
			if err := json.Unmarshal(raw, &p); err != nil {
				out.Refused[name] = err.Error()
				continue
			}
			rules, err := p.Parse(logger, "default")
			if err != nil {
				out.Refused[name] = err.Error()
				continue
			}
			repo.MustAddList(rules)
		}
	}
	// all identities must be in the caches
	for _, id := range ids {
		mgr.Add(id)
	}
	for _, q := range w.Queries {
		proto, err := u8proto.ParseProtocol(strings.ToLower(q.Protocol))
		must(err)
		res, _, _, err := policy.LookupFlow(logger, repo, mgr, policytypes.Flow{From: ids[q.From], To: ids[q.To], Proto: proto, Dport: q.Port})
		must(err)
		out.Verdicts = append(out.Verdicts, verdict{Egress: res.Egress == policytypes.DecisionAllowed, Ingress: res.Ingress == policytypes.DecisionAllowed})
	}
	return out
}
