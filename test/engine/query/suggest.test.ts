import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { parseTokens } from '../../../src/decode/registry.ts'
import { createSuggester, type NamedContract, type NameSuggestion } from '../../../src/engine/query/suggest.ts'
import { createTokenNews } from '../../../src/engine/query/suggest-contracts.ts'
import { KINDS, lookup } from '../../../src/mapping/index.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

const tokens = () =>
  ['tokens.txt', 'demo-tokens.txt'].flatMap(name =>
    parseTokens(readFileSync(new URL(`../../../data/${name}`, import.meta.url), 'utf8')),
  )

const suggesterOf = (store: TestStore) => {
  const suggester = createSuggester(store.reader, tokens)
  return (q: string, size = 10, contracts: NamedContract[] = []): NameSuggestion[] =>
    store.read(() => suggester({ q, size, contracts }))
}

const setChain = (store: TestStore, id: number) =>
  store.db.prepare("INSERT INTO meta (key, value) VALUES ('chain_id', ?)").run(id)

const texts = (suggestions: NameSuggestion[]) => suggestions.map(({ text, kind }) => `${kind} ${text}`)

/** How often each event occurs, by the documents themselves. */
const occurrences = (store: TestStore) => {
  const counts = new Map<string, number>()
  for (const { _source } of store.all('event')) {
    const name = _source.event as string
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

const checkOccurrences = (store: TestStore, frequent: NameSuggestion[]) => {
  const found = new Map(frequent.map(({ text, score }) => [text, score]))
  assert.deepEqual(new Map([...found].sort()), new Map([...occurrences(store)].sort()))
  const scores = frequent.map(({ score }) => score)
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  )
}

describe('suggestions', () => {
  const store = createTestStore(demoBlocks().slice(0, 120), { events: demoEvents() })
  setChain(store, 31337)
  after(() => store.close())
  const suggest = suggesterOf(store)

  test('of each kind, with where it is asked for', () => {
    const contracts = [{ name: 'HarborVault', address: `0x${'ab'.repeat(20)}` }]
    const first = (q: string) => {
      const [{ score, ...best } = { score: 0 }] = suggest(q, 1, contracts)
      assert.ok(score > 0)
      return best
    }
    assert.deepEqual(first('Transfer'), { text: 'Transfer', kind: 'event', field: 'event.raw', entity: 'event' })
    assert.deepEqual(first('swapExactTokensForTokens'), {
      text: 'swapExactTokensForTokens',
      kind: 'method',
      field: 'method',
      entity: 'tx',
    })
    // Which only contracts call here.
    assert.deepEqual(first('getReserves'), {
      text: 'getReserves',
      kind: 'method',
      field: 'method.raw',
      entity: 'call',
    })
    assert.deepEqual(first('blockNumber.n'), {
      text: 'blockNumber.num',
      kind: 'field',
      field: 'blockNumber.num',
      entity: 'tx,log,event,trace,call,contract',
    })
    assert.deepEqual(first('dusd'), {
      text: 'DUSD',
      kind: 'token',
      field: 'address',
      entity: 'event',
      address: '0x252bfe6ba05b239912fe0f8f514b3564f40a7a96',
    })
    assert.deepEqual(first('vault'), {
      text: 'HarborVault',
      kind: 'contract',
      field: 'address',
      entity: 'event',
      address: `0x${'ab'.repeat(20)}`,
    })
  })

  test('by beginnings, words within, several words, and addresses, in any letter case', () => {
    assert.deepEqual(texts(suggest('TRANSFERS')), ['event TransferSingle'])
    assert.deepEqual(texts(suggest('single')), ['event TransferSingle'])
    assert.deepEqual(texts(suggest('number block', 2)), ['field blockNumber.num', 'field blockNumber.raw'])
    assert.deepEqual(texts(suggest('0x252BFE6')), ['token DUSD'])
    assert.deepEqual(texts(suggest('0x252bfe7')), [])
  })

  test('misspelt, where nothing begins so', () => {
    assert.equal(texts(suggest('tranfser'))[0], 'event Transfer')
    assert.equal(texts(suggest('evnet'))[0], 'field event')
    assert.deepEqual(suggest('qqqqqqqq'), [])
  })

  test('best first, as many as are wanted', () => {
    const all = suggest('t', 100)
    const scores = all.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.deepEqual(suggest('t', 3), all.slice(0, 3))
  })

  test('of nothing that was typed: the events that occur most', () => {
    checkOccurrences(store, suggest('', 100))
    assert.deepEqual(suggest('  ', 2), suggest('', 100).slice(0, 2))
  })

  test('every field is one that its entities have', () => {
    const fields = 'abcdefghijklmnopqrstuvwxyz'.split('').flatMap(letter => suggest(letter, 100))
    for (const { field, entity } of fields)
      for (const kind of entity.split(','))
        assert.ok(lookup(KINDS.find(it => it === kind)!, field), `${field} of ${kind}`)
    assert.ok(fields.length > 100)
  })

  test('whatever is typed is answered', () => {
    for (const q of [
      '(',
      '"',
      '.*',
      '\\',
      '😀',
      '\u0000',
      'a'.repeat(200),
      '__proto__',
      'constructor',
      '% %',
      'a '.repeat(100),
    ])
      assert.ok(Array.isArray(suggest(q)), q)
  })

  test('contracts are those that are given, as of now', () => {
    const one = { name: 'Quay', address: `0x${'01'.repeat(20)}` }
    const other = { name: 'Quayside', address: `0x${'02'.repeat(20)}` }
    assert.deepEqual(texts(suggest('quay', 5, [one])), ['contract Quay'])
    assert.deepEqual(texts(suggest('quay', 5, [one, other])), ['contract Quay', 'contract Quayside'])
    assert.deepEqual(texts(suggest('quay', 5, [other])), ['contract Quayside'])
    assert.deepEqual(texts(suggest('quay', 5)), [])
  })
})

const AT = { field: 'address', entity: 'event' } as const

test('names that came since are suggested, and counts are those of the moment, through merges and reorganisations', () => {
  const store = createTestStore([], { events: [...demoEvents(), ...oddEvents], run: [1, 1, 2, 3] })
  const suggest = suggesterOf(store)
  assert.deepEqual(suggest(''), [])
  assert.deepEqual(
    suggest('transfer').filter(({ kind }) => kind !== 'field'),
    [],
  )
  const blocks = demoBlocks().slice(0, 90)
  for (let at = 0; at < blocks.length; at += 15) {
    store.add(blocks.slice(at, at + 15))
    checkOccurrences(store, suggest('', 100))
  }
  assert.deepEqual(texts(suggest('transfer', 2)), ['event Transfer', 'method transfer'])
  store.rollback(Number(blocks[40]!.block.number))
  checkOccurrences(store, suggest('', 100))
  store.add(oddBlocks(5, 5000))
  checkOccurrences(store, suggest('', 100))
  const called = store.all('tx').flatMap(({ _source }) => (_source.method as string | null) ?? [])
  assert.ok(store.read(() => store.reader.names().length) > new Set(called).size)
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('')
  const methods = letters.flatMap(q => suggest(q, 1000)).filter(({ kind }) => kind === 'method')
  const ofTransactions = methods.filter(({ entity }) => entity === 'tx')
  assert.deepEqual([...new Set(ofTransactions.map(({ text }) => text))].sort(), [...new Set(called)].sort())
  const inside = store.all('call').flatMap(({ _source }) => (_source.method as string | null) ?? [])
  assert.ok(new Set(inside).size > 20)
  for (const name of inside)
    assert.ok(
      methods.some(({ text }) => text === name),
      name,
    )

  // What tokens and contracts of the store tell.
  for (const { _source } of store.all('token')) {
    const { symbol, name, address } = _source as Record<'symbol' | 'name' | 'address', string | null>
    if (!symbol) continue
    const found = suggest(address!.toLowerCase(), 5).filter(({ kind }) => kind === 'token')
    assert.deepEqual(
      found.map(({ score: _, ...rest }) => rest),
      [{ text: symbol, kind: 'token', ...AT, address: address!.toLowerCase(), ...(name ? { name } : {}) }],
    )
  }
  assert.deepEqual(texts(suggest('gold coin', 1)), ['token GLD-1'])
  const [named] = store.all('contract').filter(({ _source }) => _source.name !== null)
  assert.ok(texts(suggest(named!._id, 5)).includes(`contract ${named!._source.name}`))

  setChain(store, 1)
  store.add(oddBlocks(1, 6000))
  assert.equal(texts(suggest('usdc', 1))[0], 'token USDC')
  store.close()
})

test('tokens that a back-fill moves to lower blocks over and over leave room for new ones', () => {
  const store = createTestStore(demoBlocks().slice(0, 1))
  const news = createTokenNews(store.reader)
  const tell = () => store.read(news)
  const insert = store.db.prepare('INSERT INTO token (id, symbol, pos, change) VALUES (?, ?, 0, ?)')
  const many = 60_000
  store.db.transaction(() => {
    for (let id = 1001; id <= 1000 + many; id++) insert.run(id, null, id)
  })()
  tell()
  for (let i = 1; i <= 2; i++) {
    store.db.prepare('UPDATE token SET change = change + ?').run(many)
    tell()
  }
  const [{ id, digits }] = store.db.prepare('SELECT id, lower(hex(bytes)) AS digits FROM address LIMIT 1').all() as [
    { id: number; digits: string },
  ]
  const symbol = Number(store.db.prepare("INSERT INTO name (name) VALUES ('NEW')").run().lastInsertRowid)
  insert.run(id, symbol, many * 10)
  assert.deepEqual(tell(), [{ address: `0x${digits}`, symbol: 'NEW', name: null }])
  store.close()
})

test('a contract that took the place of another is suggested instead of it', () => {
  const store = createTestStore(demoBlocks().slice(0, 60))
  const suggest = suggesterOf(store)
  const named = (q: string) => texts(suggest(q).filter(({ kind }) => kind === 'contract'))
  assert.notDeepEqual(named('silo'), [])
  store.db.prepare("INSERT INTO name (name) VALUES ('Granary')").run()
  store.db.exec("UPDATE contract SET name = (SELECT id FROM name WHERE name = 'Granary') WHERE name IS NOT NULL")
  assert.deepEqual([named('silo'), new Set(named('granary'))], [[], new Set(['contract Granary'])])
  store.close()
})

test('a name that was known as something else is a method from its first call on', () => {
  const before = createTestStore()
  before.db.exec("INSERT INTO name (name) VALUES ('transfer')")
  const store = createTestStore([], { path: before.path })
  const suggest = suggesterOf(store)
  const methods = () => suggest('transfer').filter(({ kind, entity }) => kind === 'method' && entity === 'tx')
  store.add(oddBlocks(1, 5000))
  assert.deepEqual(methods(), [])
  store.add(demoBlocks().slice(0, 60))
  assert.deepEqual(texts(methods()), ['method transfer'])
  store.close()
  before.close()
})
