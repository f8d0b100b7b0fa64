import { asBigint, readDocument } from '../documents/show.ts'
import { lookup } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { andNode, inNode, rangeNode } from '../query/simplify.ts'
import type { FindList } from '../rules/lower.ts'
import type { RuleConfig } from '../rules/rule.ts'
import { blocksBetween, searchOf } from '../rules/search.ts'
import type { StoredMatch } from '../rules/windows/stored.ts'
import { searchOfTransactions, type TransactionPlaces, transactionPlaces } from '../rules/windows/stored-order.ts'

export type AskStore = (request: SearchRequest) => Promise<string>

/** Hits that are read at once: few enough to hold up nothing else. */
const MATCHES_AT_ONCE = 250
const TIMES_AT_ONCE = 1_000

/** Matches of a rule in stored blocks, and the blocks with their times and some more of their fields, page by page. */
export const createStoredBlocks = (ask: AskStore, fields: readonly string[] = []) => {
  const times = createBlockTimes(ask, fields)
  return {
    ...times,
    async *matches(config: RuleConfig, lists: FindList, from: number, to: number): AsyncGenerator<StoredMatch> {
      let after: SearchRequest['after']
      for (;;) {
        const request = {
          ...searchOf(config, { from, to, order: 'asc', size: MATCHES_AT_ONCE }, lists),
          trackTotal: false,
          after,
        }
        const { hits } = readAnswerHits<StoredMatch & { sort: [number] }>(await ask(request))
        yield* hits
        if (hits.length < MATCHES_AT_ONCE) return
        after = { values: [BigInt(hits.at(-1)!.sort[0])], place: undefined }
      }
    },
    /** Places of transactions of a block, by their hashes. */
    async transactions(hashes: readonly string[], block: number): Promise<TransactionPlaces> {
      const { hits } = readAnswerHits<StoredMatch>(await ask(searchOfTransactions(hashes, block)))
      return transactionPlaces(hits)
    },
  }
}

export type BlockHistory = Omit<ReturnType<typeof createStoredBlocks>, 'heads'>

interface StoredBlockHit {
  _source: { number: { num: number }; hash: string; timestamp: number } & Record<string, unknown>
}

const createBlockTimes = (ask: AskStore, fields: readonly string[]) => {
  const includes = [...new Set(['number', 'timestamp', ...fields])]
  let known = { from: 0, to: -1, blocks: new Map<number, StoredBlockHit>() }
  const blocks = async (query: SearchRequest['parts'][number]['query'], order: 'asc' | 'desc', size: number) => {
    const request: SearchRequest = {
      parts: [{ kind: 'block', query }],
      sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
      ...{ from: 0, size, trackTotal: false },
      source: { includes, excludes: [] },
    }
    return readAnswerHits<StoredBlockHit>(await ask(request)).hits
  }
  return {
    /** Epoch seconds; undefined if the block is not stored. Cheapest in their order. */
    async timeOf(number: number): Promise<number | undefined> {
      if (number < known.from || number > known.to) {
        const to = number + TIMES_AT_ONCE - 1
        const found = await blocks(blocksBetween('block', number, to), 'asc', TIMES_AT_ONCE)
        known = { from: number, to, blocks: new Map(found.map(block => [block._source.number.num, block])) }
      }
      const found = known.blocks.get(number)
      return found && Number(found._source.timestamp)
    },
    /** The block whose time was asked for last, with these fields. */
    at: (number: number): StoredBlockHit | undefined => known.blocks.get(number),
    /** Of those blocks that are stored, in their order, with `hash` among the fields. */
    async heads(numbers: readonly number[]): Promise<{ number: number; hash: string; time: number }[]> {
      const found: StoredBlockHit[] = []
      for (let i = 0; i < numbers.length; i += TIMES_AT_ONCE) {
        const some = numbers.slice(i, i + TIMES_AT_ONCE).map(BigInt)
        found.push(...(await blocks(inNode(lookup('block', 'number.num')!, some), 'asc', TIMES_AT_ONCE)))
      }
      return found.map(({ _source: { number, hash, timestamp } }) => ({
        ...{ number: number.num, hash, time: Number(timestamp) },
      }))
    },
    /** The last block below another one that is so early, or earlier. */
    async lastUntil(time: number, below: number): Promise<number | undefined> {
      const early = rangeNode(lookup('block', 'timestamp')!, { lte: time * 1_000 })
      return (await blocks(andNode([blocksBetween('block', 0, below), early]), 'desc', 1))[0]?._source.number.num
    },
  }
}

const readAnswerHits = <H>(text: string): { hits: H[] } =>
  (readDocument(text, asBigint) as { hits: { hits: H[] } }).hits
