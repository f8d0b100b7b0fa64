// Calls of github.com/olivere/elastic: a line of JSON for each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/olivere/elastic/v7"
)

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
	base, tx := os.Getenv("BASE"), os.Getenv("TX")
	ctx := context.Background()
	client, err := elastic.NewClient(elastic.SetURL(base), elastic.SetSniff(false), elastic.SetHealthcheck(false),
		elastic.SetBasicAuth("any", os.Getenv("TOKEN")))
	if err != nil {
		panic(err)
	}
	transfers := elastic.NewBoolQuery().Filter(elastic.NewTermQuery("event.raw", "Transfer"))
	say("info", func() (any, error) {
		info, _, err := client.Ping(base).Do(ctx)
		if err != nil {
			return nil, err
		}
		return info.TagLine, nil
	})
	say("search", func() (any, error) {
		found, err := client.Search("event").Query(transfers).Size(2).TrackTotalHits(true).Do(ctx)
		if err != nil {
			return nil, err
		}
		return found.TotalHits(), nil
	})
	say("search of several", func() (any, error) {
		found, err := client.Search("tx", "block").Size(0).TrackTotalHits(true).Do(ctx)
		if err != nil {
			return nil, err
		}
		return found.TotalHits(), nil
	})
	say("range", func() (any, error) {
		found, err := client.Search("tx").Query(elastic.NewRangeQuery("blockNumber.num").Gte(2).Lt(4)).TrackTotalHits(true).Do(ctx)
		if err != nil {
			return nil, err
		}
		return found.TotalHits(), nil
	})
	say("count", func() (any, error) { return client.Count("event").Query(transfers).Do(ctx) })
	say("get", func() (any, error) {
		found, err := client.Get().Index("tx").Id(tx).Do(ctx)
		if err != nil {
			return nil, err
		}
		var source struct{ Hash string }
		err = json.Unmarshal(found.Source, &source)
		return source.Hash, err
	})
	say("exists", func() (any, error) { return client.Exists().Index("tx").Id(tx).Do(ctx) })
	say("mget", func() (any, error) {
		answer, err := client.MultiGet().Add(elastic.NewMultiGetItem().Index("tx").Id(tx), elastic.NewMultiGetItem().Index("tx").Id("0x00")).Do(ctx)
		if err != nil {
			return nil, err
		}
		found := []bool{}
		for _, one := range answer.Docs {
			found = append(found, one.Found)
		}
		return found, nil
	})
	say("scroll", func() (any, error) {
		scroll := client.Scroll("tx").Size(1000)
		found := 0
		for {
			page, err := scroll.Do(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			found += len(page.Hits.Hits)
		}
		return found, scroll.Clear(ctx)
	})
	say("terms with avg inside", func() (any, error) {
		names := elastic.NewTermsAggregation().Field("event.raw").Size(2).SubAggregation("mean", elastic.NewAvgAggregation().Field("blockNumber.num"))
		found, err := client.Search("event").Size(0).Aggregation("names", names).Do(ctx)
		if err != nil {
			return nil, err
		}
		terms, _ := found.Aggregations.Terms("names")
		buckets := [][]any{}
		for _, one := range terms.Buckets {
			mean, _ := one.Avg("mean")
			buckets = append(buckets, []any{one.Key, one.DocCount, mean.Value})
		}
		return buckets, nil
	})
	say("indices.exists", func() (any, error) { return client.IndexExists("tx").Do(ctx) })
	say("indices.getMapping", func() (any, error) {
		mappings, err := client.GetMapping().Index("tx").Do(ctx)
		names := []string{}
		for name := range mappings {
			names = append(names, name)
		}
		return names, err
	})
	say("cluster.health", func() (any, error) {
		health, err := client.ClusterHealth().Do(ctx)
		if err != nil {
			return nil, err
		}
		return health.TimedOut, nil
	})
}
