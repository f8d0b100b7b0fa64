import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.codelibs.opensearch.runner.OpenSearchRunner.Configs;

/** Runs an OpenSearch cluster on loopback. Arguments: first HTTP port, number of nodes, data folder. */
public class Run {
  /** Transport ports follow the HTTP ports at this distance. */
  private static final int TRANSPORT = 100;

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int nodes = Integer.parseInt(args[1]);
    Configs configs = OpenSearchRunner.newConfigs().basePath(args[2]).clusterName("chainsieve-tests").numOfNode(nodes);
    try (OpenSearchRunner runner = new OpenSearchRunner()) {
      runner.onBuild((node, settings) -> {
        settings.put("network.host", "127.0.0.1");
        // Else requests are refused while garbage waits to be collected.
        settings.put("indices.breaker.total.use_real_memory", "false");
        settings.put("http.port", Integer.toString(port + node - 1));
        settings.put("transport.port", Integer.toString(port + TRANSPORT + node - 1));
        if (nodes == 1) {
          settings.put("discovery.type", "single-node");
          return;
        }
        settings.put("cluster.initial_cluster_manager_nodes", "Node 1");
        settings.put("discovery.seed_hosts", IntStream.range(0, nodes)
            .mapToObj(i -> "127.0.0.1:" + (port + TRANSPORT + i))
            .collect(Collectors.joining(",")));
      });
      runner.build(configs);
      runner.ensureYellow();
      System.out.println("ready: http://127.0.0.1:" + port);
      Thread.currentThread().join();
    }
  }
}
