import type { Cluster } from './cluster.ts'
import { textOf } from './okay.ts'

/** What not every cluster can: an index is made without it there. */
export interface Lacking {
  /** Sorted indices of documents with nested fields: Elasticsearch 7. */
  sorting?: boolean
  /** The name of the similarity that is the usual one of Elasticsearch, and of OpenSearch before 3. */
  similarity?: boolean
}

/** By what it says when it refuses. */
const SAYS: readonly [keyof Lacking, text: string][] = [
  ['sorting', 'nested fields when index sort'],
  ['similarity', 'Unknown Similarity type'],
]

/** Makes an index or a template with all that the cluster can; false where the index is there. */
export const putIndex = async (
  cluster: Pick<Cluster, 'ask'>,
  path: string,
  bodyOf: (lacking: Lacking) => object,
  doing: string,
): Promise<boolean> => {
  for (let lacking: Lacking = {}; ; ) {
    const request = { method: 'PUT', path, body: bodyOf(lacking) } as const
    const answer = await cluster.ask(request)
    const isRefused = answer.status === 400
    if (isRefused && answer.text.includes('resource_already_exists_exception')) return false
    const lacks = SAYS.find(([what, text]) => isRefused && !lacking[what] && answer.text.includes(text))
    if (!lacks) {
      textOf(answer, request, doing)
      return true
    }
    lacking = { ...lacking, [lacks[0]]: true }
  }
}
