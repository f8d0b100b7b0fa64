// Calls of github.com/elastic/go-elasticsearch: a line of JSON for each.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
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

func read(response *esapi.Response, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.IsError() {
		return nil, fmt.Errorf("%s", response.String())
	}
	var found answer
	return &found, json.NewDecoder(response.Body).Decode(&found)
}

func main() {
	client, err := elasticsearch.NewClient(elasticsearch.Config{
		Addresses: []string{os.Getenv("BASE")}, Username: "any", Password: os.Getenv("TOKEN"),
	})
	if err != nil {
		panic(err)
	}
	say("info", func() (any, error) {
		response, err := client.Info()
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		var info struct{ Tagline string }
		err = json.NewDecoder(response.Body).Decode(&info)
		return info.Tagline, err
	})
	say("search", func() (any, error) {
		found, err := read(client.Search(client.Search.WithIndex("event"), client.Search.WithBody(strings.NewReader(transfers))))
		if err != nil {
			return nil, err
		}
		return found.Hits.Total.Value, nil
	})
	say("terms with avg inside", func() (any, error) {
		found, err := read(client.Search(client.Search.WithIndex("event"), client.Search.WithBody(strings.NewReader(names))))
		if err != nil {
			return nil, err
		}
		buckets := [][]any{}
		for _, one := range found.Aggregations["names"].Buckets {
			buckets = append(buckets, []any{one.Key, one.DocCount, one.Mean.Value})
		}
		return buckets, nil
	})
	say("exists", func() (any, error) {
		response, err := client.Exists("tx", os.Getenv("TX"))
		if err != nil {
			return nil, err
		}
		return response.StatusCode == 200, nil
	})
	say("cat.indices", func() (any, error) {
		response, err := client.Cat.Indices(client.Cat.Indices.WithFormat("json"))
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		var rows []any
		err = json.NewDecoder(response.Body).Decode(&rows)
		return len(rows), err
	})
}
