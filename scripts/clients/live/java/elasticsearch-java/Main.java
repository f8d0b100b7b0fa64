import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.elasticsearch.core.ScrollResponse;
import co.elastic.clients.json.jackson.JacksonJsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import org.apache.http.Header;
import org.apache.http.HttpHost;
import org.apache.http.message.BasicHeader;
import org.elasticsearch.client.RestClient;

/** Calls of Elasticsearch 8's Java client: a line of JSON for each. */
public class Main {
  public static void main(String[] args) throws Exception {
    URI base = URI.create(System.getenv("BASE"));
    String tx = System.getenv("TX");
    Header[] headers = {new BasicHeader("Authorization", "Bearer " + System.getenv("TOKEN"))};
    RestClient rest = RestClient.builder(new HttpHost(base.getHost(), base.getPort())).setPathPrefix(base.getPath()).setDefaultHeaders(headers).build();
    ElasticsearchClient client = new ElasticsearchClient(new RestClientTransport(rest, new JacksonJsonpMapper()));
    say("info", () -> client.info().tagline());
    say("ping", () -> client.ping().value());
    say("search", () -> client.search(s -> s.index("event").size(2)
        .query(q -> q.bool(b -> b.filter(f -> f.term(it -> it.field("event.raw").value("Transfer"))))), Map.class).hits().total().value());
    say("search of several", () -> client.search(s -> s.index("tx", "block").size(0), Map.class).hits().total().value());
    say("count", () -> client.count(s -> s.index("event").query(q -> q.bool(b -> b.filter(f -> f.term(it -> it.field("event.raw").value("Transfer")))))).count());
    say("get", () -> client.get(g -> g.index("tx").id(tx), Map.class).source().get("hash"));
    say("exists", () -> client.exists(e -> e.index("tx").id(tx)).value());
    say("mget", () -> client.mget(m -> m.index("tx").ids(List.of(tx, "0x00")), Map.class).docs().stream().map(one -> one.result().found()).toList());
    say("scroll", () -> {
      SearchResponse<Map> first = client.search(s -> s.index("tx").size(1000).scroll(Time.of(t -> t.time("1m"))), Map.class);
      int found = first.hits().hits().size();
      String id = first.scrollId();
      for (;;) {
        String last = id;
        ScrollResponse<Map> page = client.scroll(s -> s.scrollId(last).scroll(Time.of(t -> t.time("1m"))), Map.class);
        if (page.hits().hits().isEmpty()) break;
        found += page.hits().hits().size();
        id = page.scrollId();
      }
      String last = id;
      client.clearScroll(c -> c.scrollId(last));
      return found;
    });
    say("terms with avg inside", () -> client.search(s -> s.index("event").size(0)
        .aggregations("names", a -> a.terms(t -> t.field("event.raw").size(2)).aggregations("mean", m -> m.avg(v -> v.field("blockNumber.num")))), Map.class)
        .aggregations().get("names").sterms().buckets().array().stream()
        .map(one -> List.of("\"" + one.key().stringValue() + "\"", one.docCount(), one.aggregations().get("mean").avg().value())).toList());
    say("indices.exists", () -> client.indices().exists(e -> e.index("tx")).value());
    say("indices.getMapping", () -> client.indices().getMapping(m -> m.index("tx")).result().keySet().stream().map(name -> "\"" + name + "\"").toList());
    say("cluster.health", () -> client.cluster().health().timedOut());
    System.exit(0);
  }

  static void say(String call, Callable<Object> work) {
    String line;
    try {
      Object value = work.call();
      line = "\"value\":" + (value instanceof String text ? "\"" + text + "\"" : value);
    } catch (Exception error) {
      line = "\"error\":\"" + error.toString().replaceAll("[\"\\\\\\s]+", " ") + "\"";
    }
    System.out.println("{\"call\":\"" + call + "\"," + line + "}");
  }
}
