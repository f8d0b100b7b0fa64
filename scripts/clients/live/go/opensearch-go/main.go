// Calls of github.com/opensearch-project/opensearch-go: a line of JSON for each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
)

type answer struct {
	Hits struct {
		Total struct{ Value int }
	}
	Count        int
	Aggregations map[string]struct {
		Buckets []struct {
			Key      any
			DocCount int `json:"doc_count"`
			Mean     struct{ Value float64 }
		}
	}
}

const transfers = `{"query":{"bool":{"filter":[{"term":{"event.raw":"Transfer"}}]}},"size":2,"track_total_hits":true}`
const names = `{"size":0,"aggs":{"names":{"terms":{"field":"event.raw","size":2},"aggs":{"mean":{"avg":{"field":"blockNumber.num"}}}}}}`

func say(call string, work func() (any, error)) {
	line := map[string]any{"call": call}
	if value, err := work(); err != nil {
		line["error"] = err.Error()
	} else {
		line["value"] = value
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func main() {
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{
		Addresses: []string{os.Getenv("BASE")}, Username: "any", Password: os.Getenv("TOKEN"),
	}})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	say("info", func() (any, error) {
		info, err := client.Info(ctx, nil)
		if err != nil {
			return nil, err
		}
		return info.Tagline, nil
	})
	say("search", func() (any, error) {
		found, err := client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{"event"}, Body: strings.NewReader(transfers)})
		if err != nil {
			return nil, err
		}
		return found.Hits.Total.Value, nil
	})
	say("terms with avg inside", func() (any, error) {
		found, err := client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{"event"}, Body: strings.NewReader(names)})
		if err != nil {
			return nil, err
		}
		var all answer
		if err := json.Unmarshal(found.Aggregations, &all.Aggregations); err != nil {
			return nil, err
		}
		buckets := [][]any{}
		for _, one := range all.Aggregations["names"].Buckets {
			buckets = append(buckets, []any{one.Key, one.DocCount, one.Mean.Value})
		}
		return buckets, nil
	})
	say("cat.indices", func() (any, error) {
		rows, err := client.Cat.Indices(ctx, nil)
		if err != nil {
			return nil, err
		}
		return len(rows.Indices), nil
	})
}
