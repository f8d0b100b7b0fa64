import java.net.URI;
import java.util.concurrent.Callable;
import org.apache.http.Header;
import org.apache.http.HttpHost;
import org.apache.http.message.BasicHeader;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.search.ClearScrollRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.SearchScrollRequest;
import org.elasticsearch.client.RequestOptions;
import org.elasticsearch.client.RestClient;
import org.elasticsearch.client.RestHighLevelClient;
import org.elasticsearch.client.core.CountRequest;
import org.elasticsearch.client.indices.GetIndexRequest;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.search.aggregations.AggregationBuilders;
import org.elasticsearch.search.aggregations.bucket.terms.Terms;
import org.elasticsearch.search.aggregations.metrics.Avg;
import org.elasticsearch.search.builder.SearchSourceBuilder;

/** Calls of the high-level REST client of Elasticsearch 7: a line of JSON for each. */
public class Main {
  public static void main(String[] args) throws Exception {
    URI base = URI.create(System.getenv("BASE"));
    String tx = System.getenv("TX");
    Header[] headers = {new BasicHeader("Authorization", "Bearer " + System.getenv("TOKEN"))};
    try (RestHighLevelClient client = new RestHighLevelClient(
        RestClient.builder(new HttpHost(base.getHost(), base.getPort())).setPathPrefix(base.getPath()).setDefaultHeaders(headers))) {
      RequestOptions options = RequestOptions.DEFAULT;
      SearchSourceBuilder transfers = new SearchSourceBuilder().size(2).trackTotalHits(true)
          .query(QueryBuilders.boolQuery().filter(QueryBuilders.termQuery("event.raw", "Transfer")));
      say("info", () -> client.info(options).getTagline());
      say("ping", () -> client.ping(options));
      say("search", () -> total(client.search(new SearchRequest("event").source(transfers), options)));
      say("search of several", () -> total(client.search(
          new SearchRequest("tx", "block").source(new SearchSourceBuilder().size(0).trackTotalHits(true)), options)));
      say("range", () -> total(client.search(new SearchRequest("tx").source(new SearchSourceBuilder().trackTotalHits(true)
          .query(QueryBuilders.rangeQuery("blockNumber.num").from(2).to(4).includeUpper(false))), options)));
      say("match", () -> total(client.search(new SearchRequest("event").source(new SearchSourceBuilder().trackTotalHits(true)
          .query(QueryBuilders.matchQuery("event", "transfer"))), options)));
      say("count", () -> client.count(new CountRequest("event").query(transfers.query()), options).getCount());
      say("get", () -> client.get(new GetRequest("tx", tx), options).getSourceAsMap().get("hash"));
      say("exists", () -> client.exists(new GetRequest("tx", tx), options));
      say("mget", () -> {
        StringBuilder found = new StringBuilder("[");
        var answers = client.mget(new MultiGetRequest().add("tx", tx).add("tx", "0x00"), options).getResponses();
        for (var one : answers) found.append(found.length() > 1 ? "," : "").append(one.getResponse().isExists());
        return new Raw(found.append("]").toString());
      });
      say("scroll", () -> {
        SearchResponse page = client.search(
            new SearchRequest("tx").source(new SearchSourceBuilder().size(1000)).scroll(TimeValue.timeValueMinutes(1)), options);
        int found = 0;
        while (page.getHits().getHits().length > 0) {
          found += page.getHits().getHits().length;
          page = client.scroll(new SearchScrollRequest(page.getScrollId()).scroll(TimeValue.timeValueMinutes(1)), options);
        }
        ClearScrollRequest clear = new ClearScrollRequest();
        clear.addScrollId(page.getScrollId());
        client.clearScroll(clear, options);
        return found;
      });
      say("terms with avg inside", () -> {
        Terms names = client.search(new SearchRequest("event").source(new SearchSourceBuilder().size(0)
            .aggregation(AggregationBuilders.terms("names").field("event.raw").size(2)
                .subAggregation(AggregationBuilders.avg("mean").field("blockNumber.num")))), options).getAggregations().get("names");
        StringBuilder out = new StringBuilder("[");
        for (Terms.Bucket one : names.getBuckets())
          out.append(out.length() > 1 ? "," : "").append("[\"" + one.getKeyAsString() + "\"," + one.getDocCount() + ","
              + ((Avg) one.getAggregations().get("mean")).getValue() + "]");
        return new Raw(out.append("]").toString());
      });
      say("indices.exists", () -> client.indices().exists(new GetIndexRequest("tx"), options));
    }
    System.exit(0);
  }

  static long total(SearchResponse answer) {
    return answer.getHits().getTotalHits().value;
  }

  /** JSON as it stands. */
  record Raw(String json) {}

  static void say(String call, Callable<Object> work) {
    String line;
    try {
      Object value = work.call();
      line = "\"value\":" + (value instanceof Raw raw ? raw.json() : value instanceof String text ? "\"" + text + "\"" : value);
    } catch (Exception error) {
      line = "\"error\":\"" + error.toString().replaceAll("[\"\\\\\\s]+", " ") + "\"";
    }
    System.out.println("{\"call\":\"" + call + "\"," + line + "}");
  }
}
