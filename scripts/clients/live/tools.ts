import type { Client } from './clients.ts'

/** Tools of others that are run as they are; `tools/` has the calls of each. */
export const TOOLS: readonly Client[] = [
  {
    ...{ name: 'elasticdump', language: 'javascript', package: 'elasticdump', version: '6.125.1', short: true },
    script: 'elasticdump.mjs',
    expected: {
      // Ids, and lines that name a parent, which Elasticsearch 7 would refuse.
      'documents of tx': [1717, 0],
      'documents of event': [2813, 0],
      mapping: true,
      settings: { number_of_shards: '1', number_of_replicas: '0', max_result_window: '10000' },
      alias: ['ethereum-demo-local', 'ethereum-demo-local-tx'],
      index: ['aliases', 'mappings', 'settings'],
    },
  },
  {
    ...{ name: 'elasticdump into Elasticsearch 7.17', language: 'javascript', package: 'elasticdump' },
    ...{ version: '6.125.1', script: 'elasticdump-copy.mjs', needsElasticsearch: true, short: true },
    expected: {
      'index, with mapping and settings': { type: 'date', format: 'epoch_second' },
      'documents that arrive': 1717,
      removed: true,
    },
  },
  {
    ...{ name: 'multielasticdump', language: 'javascript', package: 'elasticdump', version: '6.125.1', short: true },
    script: 'multielasticdump.mjs',
    expected: { 'documents of tx': 1717, 'documents of block': 421 },
  },
  {
    ...{ name: 'searchkit', language: 'javascript', package: '@searchkit/api', version: '4.14.0', short: true },
    script: 'searchkit.mjs',
    expected: {
      'a word': 1597,
      'a page of it': 5,
      'its highlight': ['full', ['Transfer']],
      'facets of everything': [
        ['Transfer', 1565],
        ['Sync', 342],
      ],
      'a chosen facet': 342,
      'a range': 591,
    },
  },
  {
    ...{ name: 'search-ui', language: 'javascript', package: '@elastic/search-ui-elasticsearch-connector' },
    ...{ version: '1.24.2', script: 'search-ui.mjs', short: true },
    expected: {
      'a word': 1597,
      'a page of it': 5,
      facets: [
        { value: 'Transfer', count: 1565 },
        { value: 'Sync', count: 342 },
      ],
      'a chosen facet': 342,
      'suggestions while typing': 3,
      'a word, at the root of a host': 1597,
    },
  },
  {
    ...{ name: 'Prometheus elasticsearch_exporter', language: 'debian', package: 'prometheus-elasticsearch-exporter' },
    ...{ version: '', script: 'exporter.mjs', short: true },
    expected: {
      'health is read': [1],
      'figures of the node are read': [1],
      'memory of the process': true,
      'free disk': true,
      'documents of tx': [1717],
      'documents of the node': true,
      'statistics of indices are read': [1],
      'mappings are read': [1],
      'settings are read': [1],
      'no index is read only': [0],
    },
  },
  {
    ...{ name: "Grafana's OpenSearch backend", language: 'go', package: 'opensearch-datasource', version: '2.34.2' },
    unavailable: 'the Go module proxy does not serve its module',
  },
  {
    ...{ name: 'elasticsearch-dsl', language: 'python', package: 'elasticsearch-dsl', version: '8.18.0', short: true },
    script: 'dsl.py',
    expected: {
      count: 1565,
      page: ['Transfer', 'Transfer'],
      scan: 2813,
      'point in time': 1717,
      nested: 1600,
      buckets: [
        ['Transfer', 1565, 420],
        ['Sync', 342, 416],
      ],
      'faceted search': [1565, 'Transfer', true],
      documents: 342,
      'mapping by the name that was asked for': true,
      'settings by the name that was asked for': ['event'],
    },
  },
  {
    ...{ name: 'mcp', language: 'python', package: 'mcp', version: '2.3.0', short: true },
    script: 'mcp-agent.py',
    expected: { http: [15, '85'], stdio: [15, '85'] },
  },
  {
    ...{ name: 'langchain-elasticsearch', language: 'python', package: 'langchain-elasticsearch', version: '1.0.0' },
    ...{ script: 'langchain.py', short: true },
    expected: {
      retriever: ['Transfer', 'Transfer', 'Transfer', 'Transfer'],
      'retriever over two indices': 6,
      store: 3,
    },
  },
  {
    ...{ name: 'eland', language: 'python', package: 'eland', version: '9.2.0', script: 'eland-frames.py' },
    short: true,
    expected: {
      rows: 2813,
      columns: ['address', 'blockNumber.num', 'event', 'logIndex.num'],
      'rows that match': 856,
      largest: 420,
      mean: 217.553857,
      described: 8,
      'distinct values': 309,
      'distinct texts': 24,
      'frequent texts': [
        ['Transfer', 1565],
        ['Sync', 342],
      ],
      'copied to pandas': 856,
      'first rows': 7,
    },
  },
  {
    ...{ name: 'ElastAlert 2', language: 'python', package: 'elastalert2', version: '2.19.0' },
    // It imports that without naming it.
    ...{ with: ['pytz==2025.2'], script: 'elastalert-rules.py' },
    expected: {
      any: [342, 342],
      frequency: [342, 3],
      cardinality: [342, 341],
      spike: [342, 1],
      'new term': [2813, 24],
      blacklist: [2813, 342],
    },
  },
]
