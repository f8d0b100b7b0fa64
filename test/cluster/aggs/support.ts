import { createClusterSearcher } from '../../../src/cluster/searcher.ts'
import { createSearcher, type StoreSearcher } from '../../../src/engine/query/searcher.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import type { SearchRequest } from '../../../src/query/request.ts'
import type { FilledCluster } from '../../support/cluster-fill.ts'

export const INDEX = 'ethereum-made-up-mainnet'

/** What stands under `aggregations`: in the cluster's answer and in the store's, or why the cluster's is refused. */
export interface Answers {
  cluster: string | undefined
  store: string
  refused: string | undefined
}

export const askStore = ({ store }: FilledCluster, request: SearchRequest) =>
  aggregationsOf(createSearcher(store.reader), request)

export const askCluster = ({ store, cluster, naming, network, visible }: FilledCluster, request: SearchRequest) => {
  const place = { cluster, naming, network, visible: () => visible }
  const { searcherOf } = createClusterSearcher({ ...place, reader: store.reader, limits: DEFAULT_LIMITS })
  return aggregationsOf(searcherOf({ deadlineMs: 30_000 }), request)
}

export const askBoth = async (filled: FilledCluster, request: SearchRequest): Promise<Answers> => {
  const store = rounded(await askStore(filled, request))
  try {
    return { cluster: rounded(await askCluster(filled, request)), store, refused: undefined }
  } catch (error) {
    if (!(error instanceof ChainsieveError) || !REFUSED.test(error.message)) throw error
    return { cluster: undefined, store, refused: error.message }
  }
}

const REFUSED = / does not work on a network whose documents lie in a cluster: |^The cluster refuses this query: /

/** Sums of fractions depend on their order, in the last digit. */
export const rounded = (text: string): string =>
  text.replace(/\d+\.\d+(?:E-?\d+)?/g, number => String(Number(Number(number).toPrecision(14))))

const aggregationsOf = async (searcher: StoreSearcher, request: SearchRequest): Promise<string> => {
  const writing = { index: INDEX, out: createByteWriter(), totals: 'object', typedKeys: true } as const
  return (await searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, writing)).aggregations!
}
