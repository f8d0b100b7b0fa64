import { asJson } from '../documents/show.ts'
import {
  familyOf,
  findSimilar,
  HAPPENINGS,
  happeningOf,
  type SimilarFound,
  type SimilarRequest,
} from '../engine/query/similar.ts'
import type { Reader } from '../engine/reader.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import type { Kind } from '../mapping/index.ts'
import { ALL } from '../query/ast.ts'
import { parseSearch } from '../query/parse.ts'
import { type ClusterHit, documentOf } from './hits/found.ts'
import type { Asker, AskOptions } from './query-client.ts'
import { documentsById } from './query-client.ts'

interface Asking {
  asker: Asker
  options: AskOptions
  visible: Visible
  /** Reads the network's store, which knows contracts and their codes. */
  inStore<T>(work: () => T): T
  reader: Reader
}

export const likeContract = (
  request: SimilarRequest,
  { inStore, reader }: Pick<Asking, 'inStore' | 'reader'>,
): SimilarFound[] | undefined => inStore(() => findSimilar(request, { reader, load: none, newest: none }))

const none = () => {
  throw new Error('contracts are compared by their codes alone')
}

/** Codes are compared in the store; the newest of each contract of the family is found by one search. */
export const likeHappening = async (
  request: SimilarRequest & { kind: 'event' | 'call' },
  asking: Asking,
): Promise<SimilarFound[] | undefined> => {
  const { kind, id, size } = request
  const { asker, options, visible, inStore, reader } = asking
  const { stored, owner, what } = HAPPENINGS[kind]
  const [named] = (await documentsById(kind, [id], asking)).values()
  if (!named) return undefined
  const own = (await hitsAt(stored, [named], asking)).get(named.position)
  if (!own) return undefined
  const happening = happeningOf(request, sourceOf(own))
  const family = inStore(() => [...familyOf(happening, request, reader)])
  const body = {
    ...{ size: family.length, sort: { 'blockNumber.num': 'desc' }, collapse: { field: `${owner}.raw` } },
    query: {
      bool: { filter: [{ terms: { [owner]: family.map(one => one.address) } }, { term: { [what]: happening.value } }] },
    },
  }
  const newest = parseSearch(JSON.stringify(body), [stored], 0)
  const { hits } = family.length === 0 ? { hits: [] } : await asker.page(newest, options, visible)
  const byAddress = new Map(hits.map(hit => [happeningOf(request, sourceOf(hit)).address.toLowerCase(), hit]))
  return family
    .flatMap(({ address, similarity }) => {
      const hit = byAddress.get(address.toLowerCase())
      return hit ? { position: hit.position, similarity } : []
    })
    .slice(0, size)
}

const sourceOf = (hit: ClusterHit): object => documentOf(hit, asJson)._source

/** By their positions. */
export const hitsAt = async (
  kind: Kind,
  at: readonly { position: number }[],
  { asker, options, visible }: Pick<Asking, 'asker' | 'options' | 'visible'>,
): Promise<ReadonlyMap<number, ClusterHit>> => {
  if (at.length === 0) return new Map()
  const all = { parts: [{ kind, query: ALL }], sort: [], from: 0, size: at.length, source: true, trackTotal: false }
  const { hits } = await asker.page(all, options, visible, { at: at.map(({ position }) => position) })
  return new Map(hits.map(hit => [hit.position, hit]))
}
