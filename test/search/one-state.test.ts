import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createNdjson } from '../../src/export/lines.ts'
import { runExport, toStream } from '../../src/export/run.ts'
import type { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import type { AnswerFormat, SearchAnswer } from '../../src/search/service.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

/** Answers with all hits, each read while the chain is reorganised, grows, is back-filled and pruned. CASES=300 takes some minutes. */
const CASES = Number(process.env.CASES ?? 40)
const SEED = Number(process.env.SEED ?? 1)

const random = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A network whose stored blocks change, and which of them were stored in each state. */
const createHistory = (salt: string, blocks: number) => {
  const under = { txs: 2, logs: 0 }
  let chain = makeChain({ from: 0, blocks, salt, ...under })
  const store = createTestStore([...chain.slice(0, 300), ...chain.slice(400)], { run: 40 })
  const states: Set<string>[] = []
  let forks = 0
  const note = () => {
    const runs = store.read(() => store.reader.segments().map(({ first, last }) => [first, last] as const))
    const held = chain.filter((_, number) => runs.some(([first, last]) => first <= number && number <= last))
    states.push(
      new Set(held.flatMap(({ block, receipts }) => [block.hash, ...receipts.map(one => one.transactionHash)])),
    )
  }
  const top = () => chain.length - 1
  const grow = (count: number) => {
    const more = makeChain({ blocks: count, parent: chain.at(-1)!, salt: `${salt} ${++forks}`, ...under })
    store.add(more)
    chain = [...chain, ...more]
  }
  const changes = {
    grow: (below: (n: number) => number) => grow(1 + below(3)),
    reorganise(below: (n: number) => number) {
      const depth = below(3) === 0 ? 1 + below(Math.max(1, chain.length - 500)) : 1 + below(6)
      chain = chain.slice(0, chain.length - depth)
      store.rollback(top())
      note()
      grow(depth + below(2))
    },
    fill(below: (n: number) => number) {
      const stored = new Set<number>()
      store.read(() => {
        for (const { first, last } of store.reader.segments()) for (let n = first; n <= last; n++) stored.add(n)
      })
      const missing = chain.filter((_, number) => number >= 300 && number < 400 && !stored.has(number))
      const from = below(Math.max(1, missing.length - 10))
      store.add(neighbours(missing.slice(from, from + 10)))
    },
    prune: (below: (n: number) => number) => void store.writer.prune({ below: 20 + below(200) }),
    merge: (below: (n: number) => number) => void store.writer.merge(below(top())),
  }
  note()
  const names = ['grow', 'reorganise', 'reorganise', 'fill', 'prune', 'merge'] as const
  return {
    store,
    states,
    change(below: (n: number) => number) {
      changes[names[below(names.length)]!](below)
      note()
    },
  }
}

const neighbours = (blocks: RawBlock[]): RawBlock[] => {
  const end = blocks.findIndex(
    ({ block }, i) => i > 0 && Number(block.number) !== Number(blocks[i - 1]!.block.number) + 1,
  )
  return end < 0 ? blocks : blocks.slice(0, end)
}

const NETWORKS = ['ethereum/one/net', 'ethereum/two/net'] as const
const histories = [createHistory('one', 1_000), createHistory('two', 700)] as const
after(() => {
  for (const { store } of histories) store.close()
})

interface Form {
  name: string
  network: string
  body: object
  format?: AnswerFormat
}

const SORTS = {
  'oldest first': { sort: ['_doc'] },
  'newest first': {},
  'by time and hash': { sort: [{ timestamp: 'desc' }, { hash: 'asc' }] },
  'by hash': { sort: [{ hash: 'asc' }] },
}

const forms: Form[] = Object.entries(SORTS).flatMap(([sorted, sort]) => {
  const body = { size: -1, ...sort }
  const [one, both] = [NETWORKS[0], NETWORKS.join(',')]
  return [
    { name: `JSON, ${sorted}`, network: one, body },
    { name: `NDJSON, ${sorted}`, network: one, body, format: 'ndjson' as const },
    {
      name: `CSV, ${sorted}`,
      network: one,
      body: { ...body, _source: ['hash', 'parentHash'] },
      format: 'csv' as const,
    },
    { name: `JSON of both, ${sorted}`, network: both, body },
    { name: `NDJSON of both, ${sorted}`, network: both, body, format: 'ndjson' as const },
  ]
})

/** As it is told to clients: without its end it is no whole answer. */
const read = (text: string, format: AnswerFormat | undefined): { hits: ChainHit[]; total?: number } => {
  if (format === 'ndjson')
    return {
      hits: text
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line)),
    }
  if (format === undefined) {
    const { hits } = JSON.parse(text) as { hits: { total: number; hits: ChainHit[] } }
    return hits
  }
  const rows = text.split('\r\n').slice(1, -1)
  return {
    hits: rows.map(row => ({ _index: 'ethereum-one-net-', _id: row.split(',')[0]!, _type: '', _source: {} })),
  }
}

/** Whoever does not see that the connection was closed sees it in what it got. */
const checkTold = (text: string, format: AnswerFormat | undefined, { message }: Error) => {
  if (format === 'csv') return assert.equal(text.split('\r\n').at(-1), `"error: ${message}`)
  if (format === undefined) assert.throws(() => JSON.parse(text))
  const end =
    format === 'ndjson' ? text.trimEnd().split('\n').at(-1)! : `{${text.slice(text.lastIndexOf(']},"error":') + 3)}}`
  const { error, status } = JSON.parse(end)
  assert.deepEqual([error.type, error.reason, status], ['search_phase_execution_exception', message, 503])
}

const isOneOf = (states: readonly Set<string>[], hits: readonly ChainHit[]) =>
  states.some(state => state.size === hits.length && hits.every(({ _id }) => state.has(_id)))

for (const threads of [1, 2])
  describe(`by ${threads} threads, an answer with all hits is of one state of the chain, or ends with an error`, () => {
    const pool = createPool({
      ...{ stores: () => new Map(NETWORKS.map((network, i) => [network, histories[i]!.store.path])), threads },
      ...{ deadlineMs: 60_000, inlineMs: 0, limits: DEFAULT_LIMITS },
    })
    after(() => pool.close())
    const asking = { account: 1, signal: new AbortController().signal }
    const below = random(SEED * threads)
    const maybeChange = () => {
      for (const { change } of histories) if (below(2) === 0) change(below)
    }
    const collect = async ({ body }: SearchAnswer, parts: Uint8Array[]): Promise<string> => {
      if (body instanceof Uint8Array) return Buffer.from(body).toString()
      for await (const part of body) {
        parts.push(part)
        maybeChange()
        // Threads read ahead.
        if (below(3) === 0) await new Promise(resolve => setTimeout(resolve, 20))
      }
      return Buffer.concat(parts).toString()
    }
    const ended = { whole: 0, failed: 0 }

    for (const { name, network, body, format } of forms)
      it(name, async () => {
        for (let i = 0; i < Math.ceil(CASES / forms.length); i++) {
          const begun = histories.map(({ states }) => states.length - 1)
          let text: string
          const parts: Uint8Array[] = []
          try {
            const asked = { entities: 'block,tx', body: Buffer.from(JSON.stringify(body)), network, ...asking }
            text = await collect(await pool.search({ ...asked, ...(format && { format }) }), parts)
          } catch (error) {
            assert.match((error as Error).message, /^(the chain was reorganised|documents were pruned)/)
            assert.equal((error as ChainsieveError).code, 'search_phase_execution_exception')
            if (parts.length > 0) checkTold(Buffer.concat(parts).toString(), format, error as Error)
            ended.failed++
            continue
          }
          const { hits, total } = read(text, format)
          assert.equal(tornBy(hits, total), undefined)
          for (const [i, { states }] of histories.entries()) {
            if (!network.includes(NETWORKS[i]!)) continue
            const own = hits.filter(({ _index }) => _index.startsWith(NETWORKS[i]!.replaceAll('/', '-')))
            assert.ok(isOneOf(states.slice(begun[i]), own), `${own.length} hits of ${NETWORKS[i]} are of no one state`)
          }
          ended.whole++
        }
      })

    it('an export', async () => {
      const [{ states }] = histories
      for (let i = 0; i < Math.ceil(CASES / forms.length); i++) {
        const parts: Uint8Array[] = []
        const exported = runExport({
          async ask(entities, body) {
            maybeChange()
            const { body: bytes } = await pool.search({
              ...{ ...asking, network: NETWORKS[0], entities, body: Buffer.from(body) },
            })
            return Buffer.from(bytes as Uint8Array)
          },
          ...{
            entities: 'block,tx',
            query: '{}',
            encoder: createNdjson(),
            signal: asking.signal,
            onStep() {},
            size: 300,
          },
          target: toStream(async part => void parts.push(part)),
        })
        try {
          await exported
        } catch (error) {
          assert.match((error as Error).message, /^blocks whose hits were already written are no longer in the chain/)
          continue
        }
        const { hits } = read(Buffer.concat(parts).toString(), 'ndjson')
        assert.equal(tornBy(hits, undefined), undefined)
        // Blocks that were back-filled or pruned meanwhile may be missing, or there still: all are of the chain of one state.
        const known = states.map(state => hits.filter(({ _id }) => state.has(_id)).length)
        assert.ok(Math.max(...known) >= hits.length - 300 * 3)
      }
    })

    it('some were whole, and some failed', () => {
      assert.ok(ended.whole > 0 && ended.failed > 0, JSON.stringify(ended))
    })
  })

/** A hit of blocks or transactions, or of what is in them. */
export interface ChainHit {
  _index: string
  _type: string
  _id: string
  _source: {
    hash?: string
    parentHash?: string
    blockHash?: string
    number?: { num: number }
    blockNumber?: { num: number }
  }
}

/** What shows that an answer with all hits is not of one state of the chain; undefined where nothing does. */
export const tornBy = (hits: readonly ChainHit[], total: number | undefined): string | undefined => {
  if (total !== undefined && total !== hits.length) return `tells a total of ${total}, and has ${hits.length} hits`
  const ids = new Set<string>()
  const hashes = new Map<string, string>()
  const parents = new Map<string, string>()
  for (const { _index, _type, _id, _source } of hits) {
    const id = `${_index}/${_id}`
    if (ids.has(id)) return `has ${id} twice`
    ids.add(id)
    const isBlock = _type === 'block'
    const network = _index.slice(0, -_type.length)
    const number = (isBlock ? _source.number : _source.blockNumber)?.num
    const hash = isBlock ? _id : _source.blockHash
    if (number === undefined || hash === undefined) continue
    const at = `${network}${number}`
    if ((hashes.get(at) ?? hash) !== hash) return `has block ${at} as ${hashes.get(at)} and as ${hash}`
    hashes.set(at, hash)
    if (isBlock && _source.parentHash !== undefined) parents.set(`${network}${number - 1}`, _source.parentHash)
  }
  for (const [at, parent] of parents)
    if ((hashes.get(at) ?? parent) !== parent)
      return `has block ${at} as ${hashes.get(at)}, but its child names ${parent}`
  return undefined
}
