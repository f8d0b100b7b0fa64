import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createClusterStores } from '../../src/cluster/stores.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { createGasPrices } from '../../src/search/gas-price.ts'
import { createPool, type Pool, type PoolOptions } from '../../src/search/pool.ts'
import type { SearchParams } from '../../src/search/service.ts'
import { CONTENTS } from '../answers/stores.ts'
import { assertPromised } from '../cluster/promised.ts'
import { ask, NETWORK, never, told } from '../cluster/search/support.ts'
import { fillCluster, shelve, withoutCluster } from '../support/cluster-fill.ts'
import type { TestStore } from '../support/store.ts'

interface Implementation {
  /** What differs from a pool that answers by the file alone. */
  options?: Partial<PoolOptions>
  /** Whether the documents are filled into OpenSearch. */
  isElsewhere?: true
  skip?: boolean | string
}

/** Every store of a network, with the same documents. */
const STORES: Record<string, Implementation> = {
  'SQLite in the main thread': { options: { inlineMs: 1_000 } },
  'SQLite in reading threads': { options: { inlineMs: 0 } },
  OpenSearch: { isElsewhere: true, skip: withoutCluster },
}

const by = { network: NETWORK, account: 1, signal: never }
/** What the first store answered to each question: the others answer the same, but for what is promised of each store alone. */
const answers = new Map<string, string>()

for (const [name, { options, isElsewhere, skip = false }] of Object.entries(STORES))
  describe(`${name} answers for a network`, { skip }, () => {
    let store: TestStore
    let pool: Pool
    let close: () => Promise<void>
    before(async () => {
      store = await CONTENTS.odd!['small runs']!()
      const given = { stores: () => new Map([[NETWORK, store.path]]), threads: 1, deadlineMs: 60_000, ...options }
      if (isElsewhere) {
        const filled = await fillCluster(store, { prefix: 'contract' })
        // Reading threads know from the file what lies in the cluster.
        shelve(filled)
        const { cluster, naming, visible } = filled
        const place = { cluster, naming, shelf: () => () => visible }
        pool = createPool({ ...given, limits: DEFAULT_LIMITS, elsewhere: createClusterStores(() => place) })
        close = filled.close
      } else {
        pool = createPool({ ...given, limits: DEFAULT_LIMITS })
        close = async () => store.close()
      }
    })
    after(async () => {
      await pool?.close()
      await close?.()
    })

    const same = (question: string, answer: string): string => {
      const expected = answers.get(question)
      if (expected === undefined) answers.set(question, answer)
      else if (isElsewhere) assertPromised(answer, expected, question)
      else assert.equal(answer, expected, question)
      return answer
    }
    const search = async (entities: string, body: object | undefined, more: Partial<SearchParams> = {}) =>
      same(JSON.stringify([entities, body, more]), await ask(pool, entities, body && JSON.stringify(body), more))
    const hitsOf = (text: string) => JSON.parse(text.slice(4)).hits.hits as { _id: string; sort?: unknown[] }[]
    const idsOf = (text: string) => hitsOf(text).map(({ _id }) => _id)
    const idsIn = (kind: Kind) => store.all(kind).map(({ _id }) => _id)

    it('finds all documents, in the order that was asked for, and counts them', async () => {
      for (const kind of ['block', 'tx', 'log', 'event', 'call', 'trace', 'contract', 'token'] as const) {
        const all = idsIn(kind).toSorted()
        const text = await search(kind, { size: 10_000, sort: '_doc', _source: false })
        assert.deepEqual(idsOf(text).toSorted(), all)
        assert.deepEqual(idsOf(await search(kind, { size: -1 })).toSorted(), all)
        const counted = await search(kind, undefined, { form: { tell: 'count' } })
        assert.equal(JSON.parse(counted.slice(4)).count, all.length)
      }
    })

    it('takes the values of terms from a document', async () => {
      const lookedUp = (field: string, lookup: object) => ({
        query: { bool: { filter: [{ terms: { [field]: lookup } }] } },
      })
      const [tx] = store.all('tx') as unknown as { _id: string; _source: { from: string; gas: { num: unknown } } }[]
      const at = { index: 'ethereum-made-up-mainnet-tx', id: tx!._id }
      const froms = await search('tx', { ...lookedUp('from', { ...at, path: 'from.raw', routing: '1' }), size: 1_000 })
      const due = (store.all('tx') as unknown as (typeof tx)[]).filter(it => it!._source.from === tx!._source.from)
      assert.deepEqual(idsOf(froms).toSorted(), due.map(it => it!._id).toSorted())
      const event = store.all('event').find(({ _source }) => (_source as { args: unknown[] }).args.length > 1)!
      const names = { index: 'event', id: event._id, path: 'args.name' }
      const nested = { nested: { path: 'args', query: { terms: { 'args.name': names, boost: 2 } } } }
      const found = await search('event', { query: nested, _source: false, size: 1_000 })
      assert.ok(idsOf(found).includes(event._id))
      const counted = await search('tx', lookedUp('gas.num', { ...at, path: 'gas.num' }), { form: { tell: 'count' } })
      assert.ok(JSON.parse(counted.slice(4)).count > 0)
      for (const nothing of [
        { ...at, id: '0x12', path: 'from' },
        { ...at, path: 'contractAddress' },
      ])
        assert.deepEqual(idsOf(await search('tx', lookedUp('from', nothing))), [])
      for (const [wrong, why] of [
        [
          { ...at, path: 'form' },
          /query.bool.filter\[0\].terms.from.path: no field \[form\] in tx. Did you mean "from"/,
        ],
        [{ ...at, path: 'from', index: 'tx,log' }, /terms.from.index: expected the index of one entity/],
        [{ ...at, path: 'from', index: 'txs' }, /there is no entity/],
        [{ ...at, path: 'from', query: {} }, /terms.from.query: unknown key/],
        [{ path: 'from', index: 'tx' }, /terms.from: expected an object with \[id\]/],
      ] as const)
        assert.match(await search('tx', lookedUp('from', wrong)), why)
      const many = {
        query: { bool: { should: Array.from({ length: 17 }, () => lookedUp('from', { ...at, path: 'from' }).query) } },
      }
      assert.match(await search('tx', many), /should\[16\].*at most 16 lookups of terms/)
    })

    it('gives documents by their ids, whatever their letters', async () => {
      for (const kind of ['block', 'tx', 'log', 'contract'] as const) {
        const [first = '', ...others] = idsIn(kind).slice(0, 9)
        const get = async (id: string, bare = false) =>
          same(`get ${kind} ${id} ${bare}`, await told(() => pool.get({ ...by, entity: kind, id, bare })))
        const document = JSON.parse((await get(first)).slice(4))
        assert.deepEqual([document._id, document.found], [first, true])
        assert.match(await get(first.replace(/[a-f]/g, letter => letter.toUpperCase())), /"found":true/)
        assert.match(await get(first, true), /^200 \{"/)
        assert.match(await get('none'), /^404 .*"found":false/)
        assert.match(await get('none', true), /^resource_not_found_exception/)
        const wanted = [first, ...others, 'none', ''].map(id => ({ kind, id, source: true }))
        const several = await told(() => pool.documents({ ...by, wanted: [...wanted, { instead: '{"a":1}' }] }))
        assert.equal(JSON.parse(same(`documents ${kind}`, several).slice(4)).docs.length, wanted.length + 1)
      }
    })

    it('estimates the gas price', async () => {
      const prices = createGasPrices(pool, DEFAULT_LIMITS)
      const numbers = store.all('block').map(({ _source }) => Number((_source.number as { raw: string }).raw))
      for (const range of [{}, ...numbers.map(from => ({ from, to: from + 7 })), { to: 3 }]) {
        const found = await prices({ ...by, now: 0, ...range })
        same(`gas price ${JSON.stringify(range)}`, JSON.stringify(found))
      }
    })

    it('goes through scrolls to their ends, each hit once', async () => {
      for (const [entities, body] of [
        ['log', { size: 40 }],
        ['log', { size: 100, sort: { 'logIndex.num': 'desc' } }],
        ['tx,block', { size: 30, sort: '_doc' }],
        ['event', { size: 50, query: { match: { event: 'transfer bare' } } }],
      ] as const) {
        const found: string[] = []
        let id = ''
        const see = (text: string) => {
          id = /"_scroll_id":"([^"]*)"/.exec(text)![1]!
        }
        for (let page = 0; page < 40; page++) {
          const text = await told(
            () =>
              page === 0
                ? pool.search({ ...by, entities, body: Buffer.from(JSON.stringify(body)), scroll: '1m' })
                : pool.cursors.scroll({ ...by, id, scroll: '1m' }),
            see,
          )
          same(`scroll ${entities} ${JSON.stringify(body)} ${page}`, text)
          if (idsOf(text).length === 0) break
          found.push(...idsOf(text))
        }
        assert.ok(found.length > body.size, `${found.length}`)
        assert.equal(new Set(found).size, found.length)
      }
    })

    it('searches points in time, behind hits and in slices', async () => {
      const { id } = await pool.cursors.openPit({ ...by, entities: 'log', keepAlive: '1m', dialect: 'elasticsearch' })
      const within = async (body: object) => {
        const text = await ask(pool, '', JSON.stringify({ pit: { id }, ...body }), { isNamed: false })
        return same(`within a point in time ${JSON.stringify(body)}`, text)
      }
      let search_after: unknown[] | undefined
      for (let page = 0; page < 4; page++) {
        const text = await within({
          ...{ size: 30, sort: { 'logIndex.num': 'asc' } },
          ...(search_after && { search_after }),
        })
        search_after = hitsOf(text).at(-1)!.sort!
      }
      const slices: string[] = []
      for (const slice of [0, 1, 2])
        slices.push(...idsOf(await within({ size: 1_000, sort: '_doc', slice: { id: slice, max: 3 } })))
      assert.deepEqual(slices.toSorted(), idsIn('log').toSorted())
    })

    it('tells what is new, and nothing when all was told', async () => {
      const found: string[] = []
      let token = 'start'
      for (let page = 0; page < 30; page++) {
        const text = await ask(pool, 'tx,log', JSON.stringify({ resume: token, size: 50 }))
        same(`what is new ${page}`, text)
        token = JSON.parse(text.slice(4)).resume.token
        found.push(...idsOf(text))
      }
      assert.deepEqual(found.toSorted(), [...idsIn('tx'), ...idsIn('log')].toSorted())
      await search('tx', { resume: 'now' })
    })

    it('gives lines and tables', async () => {
      for (const format of ['ndjson', 'csv'] as const)
        for (const size of [0, 7, -1]) {
          const fields = { _source: ['event', 'args.name', 'timestamp'] }
          await search('event', { size, sort: 'timestamp', ...fields }, { format })
          await search('tx,log', { size, from: 2 }, { format })
        }
    })

    it('gives a column for each argument of an event or a method', async () => {
      let tables = 0
      for (const [kind, name] of [
        ['event', 'event'],
        ['call', 'method'],
      ] as const) {
        const names = store.all(kind).map(({ _source }) => _source[name] as string)
        // Longer ones have no keyword.
        for (const wanted of new Set(names.filter(it => it !== '' && it?.length <= 256)))
          for (const [format, size] of [
            ['csv+text', -1],
            ['csv+text', 7],
            ['ndjson+decimal', -1],
            ['parquet+text', -1],
          ] as const) {
            const query = { term: { [`${name}.raw`]: wanted } }
            const text = await search(kind, { query, size, sort: 'timestamp' }, { format })
            if (!text.startsWith('200')) assert.match(text, /^several_signatures: /)
            else if (format === 'ndjson+decimal') {
              assert.equal(text.trimEnd().split('\n').length, names.filter(it => it === wanted).length)
              tables++
            }
          }
      }
      assert.ok(tables > 5, `${tables}`)
      const format = 'csv+text'
      assert.match(await search('event', { size: 0 }, { format }), /^several_signatures: /)
      assert.match(await search('event', { query: { match_none: {} } }, { format }), /^no_signature: /)
      assert.match(await search('tx,log', { size: 1 }, { format }), /need one entity, event or call/)
    })

    it('finds what is similar', async () => {
      let similar = 0
      for (const kind of ['event', 'call', 'contract'] as const) {
        const all = idsIn(kind)
        for (let i = 0; i < all.length; i += Math.ceil(all.length / 20))
          for (const size of [1, 7]) {
            const id = all[i]!
            const text = await told(() => pool.similar({ ...by, kind, id, size }))
            if (same(`similar ${kind} ${id} ${size}`, text).includes('"_source"')) similar++
          }
        const id = `0x${'12'.repeat(32)}_e_1`
        assert.match(same(`similar ${kind}`, await told(() => pool.similar({ ...by, kind, id, size: 1 }))), /^404/)
      }
      assert.ok(similar > 5, `${similar}`)
    })

    it('tells what it holds', async () => {
      const { counts, bytes } = await pool.holdings(by)
      assert.ok(bytes > 0)
      same('counts', JSON.stringify(counts))
      assert.equal(counts.log, idsIn('log').length)
      same('held', JSON.stringify(await pool.held(NETWORK)))
      assert.equal(pool.coverage!(NETWORK), undefined)
      same('suggestions', await told(() => pool.suggest({ ...by, q: 'transf', size: 3 })))
    })

    it('refuses what is wrong by name', async () => {
      for (const body of [{ query: { term: { nothing: 1 } } }, { size: -2 }, { sort: 'nothing' }, { aggs: { a: {} } }])
        assert.match(await search('tx', body), /^\w+_exception: /)
    })
  })
