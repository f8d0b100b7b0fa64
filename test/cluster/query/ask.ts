import assert from 'node:assert/strict'
import { aliasOf, shownId } from '../../../src/cluster/indices/names.ts'
import type { AskCluster } from '../../../src/cluster/query/joins.ts'
import { type Compiled, prepareSearch } from '../../../src/cluster/query/search.ts'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import type { SearchRequest } from '../../../src/query/request.ts'
import { asFloat } from '../../../src/query/statistics.ts'
import type { FilledCluster } from '../../support/cluster-fill.ts'
import { parseLossless, stringifyLossless } from '../../support/scenarios.ts'

/** What a search finds, so that it can be compared: of the store, and of the cluster. */
export interface Answered {
  total: number
  hits: { kind: Kind; id: string; sort: unknown; score: number | undefined }[]
}

export const NOW = Date.UTC(2025, 0, 1, 1)

/** Undefined where the text is no search. All hits are taken for the first ones, of which there are fewer here than fit a page. */
export const readRequest = (entities: string, body: string | undefined): SearchRequest | undefined => {
  const names = entities.split(',')
  const kinds = KINDS.filter(kind => names.includes(kind))
  try {
    const request = parseSearch(body, kinds, NOW, { index: 'ethereum-made-up-mainnet' })
    return { ...request, ...(request.size < 0 && { size: 10_000 - request.from }), aggregations: undefined }
  } catch (error) {
    if (error instanceof ChainsieveError) return undefined
    throw error
  }
}

export const createAsking = ({ cluster, naming, network, visible, store }: FilledCluster) => {
  const searcher = createSearcher(store.reader)
  const send = async (kinds: readonly Kind[], body: object, query = {}): Promise<unknown> => {
    const path = `/${kinds.map(kind => aliasOf(naming, network, kind)).join(',')}/_search`
    const { status, text } = await cluster.ask({ method: 'POST', path, body: stringifyLossless(body), query })
    assert.equal(status, 200, `${text.slice(0, 1500)}\nfor ${stringifyLossless(body).slice(0, 3000)}`)
    return parseLossless(text)
  }
  const ask: AskCluster = (kinds, body) => send(kinds, body)

  const fromStore = (request: SearchRequest): Answered => {
    const { total, hits } = searcher.search(request, { deadline: Number.POSITIVE_INFINITY })
    return {
      total,
      hits: hits.map(({ kind, document, sort, score = 1 }) => ({
        kind,
        ...{ id: document._id, sort: sort && parseLossless(JSON.stringify(sort)), score: asFloat(score) },
      })),
    }
  }

  const fromCluster = async (request: SearchRequest): Promise<Answered> => {
    const compiled = await prepareSearch(request, { ask, visible })
    if (compiled.kinds.length === 0) return { total: request.trackTotal === false ? -1 : 0, hits: [] }
    const answer = (await send(compiled.kinds, compiled.body, compiled.parameters)) as Found
    return { total: answer.hits.total?.value ?? -1, hits: answer.hits.hits.map(hitOf(request, compiled)) }
  }

  return { fromStore, fromCluster, ask }
}

interface Found {
  hits: { total?: { value: number }; hits: { _id: string; _score: number | null; sort: unknown[] }[] }
}

const hitOf =
  (request: SearchRequest, { read, uniform }: Compiled) =>
  ({ _id, _score, sort }: Found['hits']['hits'][number]): Answered['hits'][number] => {
    const { place, shown } = read(sort)
    return {
      kind: place.kind,
      id: shownId(_id),
      sort: request.sort.length > 0 ? parseLossless(JSON.stringify(shown)) : undefined,
      score: uniform === undefined ? Number(_score) : asFloat(uniform),
    }
  }

export const withoutScores = ({ total, hits }: Answered): Answered => ({
  total,
  hits: hits.map(hit => ({ ...hit, score: undefined })),
})
