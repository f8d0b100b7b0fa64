/** A client that is installed as its users do, and the calls of it that are tried. */
export interface Client {
  name: string
  language: 'javascript' | 'python' | 'java' | 'go' | 'debian'
  package: string
  /** Of a package of Debian, that of the release. */
  version: string
  /** Further packages to install. */
  with?: readonly string[]
  /** Its calls, in `tools/`; by default those of its language. */
  script?: string
  /** What each call gets, if not that of `EXPECTED`. */
  expected?: Readonly<Record<string, unknown>>
  /** Why it cannot be installed anywhere. */
  unavailable?: string
  /** Whether it writes to a real Elasticsearch 7.17. */
  needsElasticsearch?: true
  /** In CI, where a whole run takes too long. */
  short?: true
}

export const CLIENTS: readonly Client[] = [
  { name: 'elasticsearch 16', language: 'javascript', package: 'elasticsearch', version: '16.7.3', short: true },
  { name: '@elastic/elasticsearch 7.13', language: 'javascript', package: '@elastic/elasticsearch', version: '7.13.0' },
  {
    name: '@elastic/elasticsearch 7.17',
    language: 'javascript',
    package: '@elastic/elasticsearch',
    version: '7.17.14',
    short: true,
  },
  { name: '@elastic/elasticsearch 8', language: 'javascript', package: '@elastic/elasticsearch', version: '8.19.2' },
  { name: '@elastic/elasticsearch 9', language: 'javascript', package: '@elastic/elasticsearch', version: '9.4.3' },
  {
    name: '@opensearch-project/opensearch 2',
    language: 'javascript',
    package: '@opensearch-project/opensearch',
    version: '2.13.0',
  },
  {
    name: '@opensearch-project/opensearch 3',
    language: 'javascript',
    package: '@opensearch-project/opensearch',
    version: '3.9.0',
    short: true,
  },
  { name: 'elasticsearch-py 6', language: 'python', package: 'elasticsearch', version: '6.8.2' },
  { name: 'elasticsearch-py 7', language: 'python', package: 'elasticsearch', version: '7.17.12', short: true },
  { name: 'elasticsearch-py 8', language: 'python', package: 'elasticsearch', version: '8.19.3' },
  { name: 'elasticsearch-py 9', language: 'python', package: 'elasticsearch', version: '9.5.1' },
  { name: 'opensearch-py 3', language: 'python', package: 'opensearch-py', version: '3.2.0' },
  { name: 'Java high-level REST client 7.17', language: 'java', package: 'hlrc', version: '7.17.29' },
  { name: 'elasticsearch-java 8', language: 'java', package: 'elasticsearch-java', version: '8.19.0' },
  { name: 'opensearch-java 2', language: 'java', package: 'opensearch-java', version: '2.19.0' },
  { name: 'olivere/elastic 7', language: 'go', package: 'olivere', version: '7.0.32' },
  { name: 'go-elasticsearch 8', language: 'go', package: 'go-elasticsearch', version: '8.17.0' },
  { name: 'opensearch-go 4', language: 'go', package: 'opensearch-go', version: '4.3.0' },
]
