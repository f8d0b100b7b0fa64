import { stop } from '../../lib/errors.ts'
import type { Cluster } from './cluster.ts'
import { expectOk } from './expect-ok.ts'

/** Product and version of the cluster's nodes. */
interface ClusterVersion {
  /** `OpenSearch 3.3.2`. */
  name: string
  /** Warning about an untested version; undefined if tested. */
  doubt: string | undefined
  /** Whether snapshots can restore our indices. */
  restores: boolean
}

/** Throws a `stop` if the cluster is too old. */
export const findVersion = async (cluster: Pick<Cluster, 'ask'>): Promise<ClusterVersion> =>
  clusterVersionOf(await expectOk(cluster, { method: 'GET', path: '/' }, 'report its version'))

export const clusterVersionOf = (text: string): ClusterVersion => {
  const { distribution, number } = versionIn(text)
  const [major = 0, minor = 0] = (number ?? '').split('.').map(Number)
  const isOpenSearch = distribution === 'opensearch'
  const name = `${isOpenSearch ? 'OpenSearch' : 'Elasticsearch'} ${number}`
  const [least, minorOfLeast] = isOpenSearch ? [2, 0] : [7, 17]
  if (!(major > least || (major === least && minor >= minorOfLeast)))
    throw stop(
      'cluster_too_old',
      number === undefined
        ? `the cluster does not identify itself as OpenSearch: look at what ${CHECK} answers`
        : `the cluster runs ${name}: upgrade it to ${isOpenSearch ? 'OpenSearch 3' : 'Elasticsearch 8'}`,
    )
  const isAmong = (versions: readonly string[]) => versions.some(version => name.startsWith(`${version}.`))
  return {
    name,
    doubt: isAmong(TRIED) ? undefined : `Chainsieve was tried with ${TRIED.join(', ')}`,
    restores: !isAmong(RESTORE_NOTHING_SORTED),
  }
}

const TRIED = [
  'OpenSearch 2.11',
  'OpenSearch 2.19',
  'OpenSearch 3.3',
  'OpenSearch 3.4',
  'Elasticsearch 7.17',
  'Elasticsearch 8.19',
] as const

/** Cannot restore sorted indices: https://github.com/opensearch-project/OpenSearch/issues/20073 */
const RESTORE_NOTHING_SORTED = ['OpenSearch 3.3', 'OpenSearch 3.4'] as const

const CHECK = 'GET / of opensearch-url'

const versionIn = (text: string): { distribution?: string; number?: string } => {
  try {
    return (JSON.parse(text) as { version?: object }).version ?? {}
  } catch {
    return {}
  }
}
