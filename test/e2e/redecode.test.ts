import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { toEventSelector, toFunctionSelector } from 'viem'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { storeFile } from '../../src/engine/files.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, pause, type Server, serve, start, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

const DEMO = 'ethereum/demo/local'
const MADE_UP = 'ethereum/made-up/mainnet'
const demo = fileURLToPath(new URL('../../data/demo.ndjson.gz', import.meta.url))
const abi = fileURLToPath(new URL('../../data/demo-abi.json', import.meta.url))

const QUERIES: [entities: string, query: unknown][] = [
  ['event', { term: { 'event.raw': 'HarborCargoLanded' } }],
  ['event', { term: { event: 'transfer' } }],
  ['event', { term: { probability: 1 } }],
  ['event', { nested: { path: 'args', query: { term: { 'args.name': 'voyage' } } } }],
  ['event', { nested: { path: 'args', query: { range: { 'args.value.num': { gte: 3, lt: 1000 } } } } }],
  ['event', { nested: { path: 'args', query: { range: { 'args.value.scaled': { gt: 0 } } } } }],
  ['call', { exists: { field: 'method' } }],
  ['call', { term: { method: 'land' } }],
  ['tx', { term: { method: 'land' } }],
  ['tx', { has_child: { type: 'event', query: { term: { 'event.raw': 'HarborLogbook' } } } }],
]

interface Suggested {
  kind: string
  text: string
  field: string
}

/** All documents of every kind, what some queries find of them, and what is suggested. */
const everything = async (server: Server, network: string) => {
  const documents = []
  for (const entity of ['block', 'tx', 'log', 'event', 'call', 'trace'])
    documents.push(...(await server.search(network, entity, { size: -1, sort: '_doc' })).hits.hits)
  const answers = []
  for (const [entity, query] of QUERIES)
    answers.push((await server.search(network, entity, { query, size: 50, sort: { 'blockNumber.num': 'desc' } })).hits)
  const suggested = []
  for (const q of ['', 'harb', 'trans', 'land'])
    suggested.push(
      (await server.ask<{ suggestions: Suggested[] }>(`/${network}/es/suggest/?q=${q}&size=100`)).body.suggestions,
    )
  // Those of one score come in the order in which their names came up. What a contract is called is told where it is created.
  const suggestions = suggested.map(all =>
    all.flatMap(({ kind, text, field }) => (kind === 'contract' ? [] : [`${kind} ${text} ${field}`])).sort(),
  )
  return { documents, answers, suggestions }
}

const assertSame = (ours: Awaited<ReturnType<typeof everything>>, theirs: typeof ours) => {
  assert.equal(ours.documents.length, theirs.documents.length)
  // The first difference alone: thousands of documents cannot be shown.
  const other = ours.documents.findIndex((it, i) => JSON.stringify(it) !== JSON.stringify(theirs.documents[i]))
  assert.deepEqual(ours.documents[other], theirs.documents[other])
  assert.deepEqual(ours.answers, theirs.answers)
  assert.deepEqual(ours.suggestions, theirs.suggestions)
}

const notes = (data: string): string[] =>
  existsSync(join(data, 'redecode')) ? readdirSync(join(data, 'redecode')).filter(name => name.endsWith('.json')) : []

/** Whether all blocks that were stored before a rule was are gone through for it. */
const hasLookedBack = (data: string, rule: number): boolean => {
  const db = new Database(storeFile(data, DEMO), { readonly: true })
  try {
    return db.prepare('SELECT next > last FROM rule WHERE id = ?').pluck().get(rule) === 1
  } finally {
    db.close()
  }
}

test('what is stored is decoded anew by the next server, as if the ABI had been there before, and no alert comes of it', async t => {
  const folder = tempFolder(t)
  const [data, straight] = [join(folder, 'later'), join(folder, 'before')]
  assert.match(
    await succeed(t, ['abi', 'add', '--redecode', '--network', DEMO, abi], { data: join(folder, 'none') }),
    /\nNo stored blocks need decoding again\.\n$/,
  )
  await succeed(t, ['import', '--network', DEMO, demo], { data })
  await succeed(t, ['abi', 'add', abi], { data: straight })
  await succeed(t, ['import', '--network', DEMO, demo], { data: straight })

  const first = await serve(t, data)
  const landed = ['Event', 'event', 'Equals', 'HarborCargoLanded'] as const
  const rule = await first.ask<{ id: number }>(
    '/alerting/rules/',
    ruleOn(DEMO, landed, [webhookTo('https://example.org')], { startBlock: 0 }),
  )
  assert.equal(rule.status, 201)
  await until(
    () => hasLookedBack(data, rule.body.id),
    isDone => isDone,
    first.err,
  )
  first.signal('SIGTERM')
  await first.ended

  assert.match(
    await succeed(t, ['abi', 'add', '--redecode', abi], { data }),
    /\nThe next chainsieve serve will decode the stored blocks of ethereum\/demo\/local again\.\n$/,
  )
  const server = await serve(t, data)
  await server.says(/Decoded stored blocks again +.*abi=demo-abi .*logs=\d+ calls=\d+ transactions=\d+/)
  await until(
    () => notes(data),
    left => left.length === 0,
  )
  const oracle = await serve(t, straight)
  assertSame(await everything(server, DEMO), await everything(oracle, DEMO))
  assert.equal(await server.total(DEMO, 'event', { term: { 'event.raw': 'HarborCargoLanded' } }), 9)
  await pause(600)
  const { body } = await server.ask<{ alerts: unknown[] }>(`/alerting/rules/${rule.body.id}/alerts/`)
  assert.deepEqual(body.alerts, [])

  // Once more there is nothing to do, whether for the network alone or for all.
  for (const where of [[], ['--network', DEMO]]) {
    const said = server.err().length
    const [added] = JSON.parse(await succeed(t, ['abi', 'add', '--json', '--redecode', ...where, abi], { data })) as [
      object,
    ]
    assert.deepEqual(
      { ...added, events: 0, functions: 0 },
      {
        ...{
          name: 'demo-abi',
          network: where[1] ?? null,
          address: null,
          codeHash: null,
          probability: 1,
          events: 0,
          functions: 0,
        },
        redecoding: { networks: [DEMO], now: true },
      },
    )
    await until(
      () => server.err().slice(said),
      text => /Decoded stored blocks again +.*logs=0 calls=0 transactions=0/.test(text),
      server.err,
    )
  }
  assert.doesNotMatch(server.err(), /level=error/)
})

test('killed again and again, it ends as if it had not been', { timeout: 1_800_000 }, async t => {
  const folder = tempFolder(t)
  const straight = join(folder, 'before')
  const chain = [...generateBlocks({ seed: 5, count: 80 })]
  const pack = writePack(join(folder, 'pack.ndjson'), chain)
  const text = join(folder, 'renamed.txt')
  writeFileSync(
    text,
    [
      'event Transfer(address indexed sender, address indexed receiver, uint256 amount)',
      'event Approval(address indexed whose, address indexed whom, uint256 much)',
      'function transfer(address whom, uint256 much)',
    ].join('\n'),
  )
  await succeed(t, ['abi', 'add', text], { data: straight })
  await succeed(t, ['import', '--network', MADE_UP, '--store-batch', '7', pack], { data: straight })

  let data = ''
  let kills = 0
  // Anew where it was too quick to be killed in its midst.
  for (let tries = 0; kills < 3; tries++) {
    assert.ok(tries < 10, 'it is never killed in its midst')
    data = join(folder, `killed-${tries}`)
    await succeed(t, ['import', '--network', MADE_UP, '--store-batch', '7', pack], { data })
    await succeed(t, ['abi', 'add', '--redecode', text], { data })
    kills = await killAgainAndAgain(t, data)
  }
  const [server, oracle] = [await serve(t, data), await serve(t, straight)]
  await until(
    () => notes(data),
    left => left.length === 0,
    server.err,
  )
  assertSame(await everything(server, MADE_UP), await everything(oracle, MADE_UP))
})

/** Kills servers that decode what is stored again, until all is; gives how often that was. */
const killAgainAndAgain = async (t: TestContext, data: string): Promise<number> => {
  const [note] = notes(data)
  const nextOf = () => {
    try {
      return (JSON.parse(readFileSync(join(data, 'redecode', note!), 'utf8')) as { next: number | null }).next
    } catch {
      return -1
    }
  }
  const telling = await serve(t, data)
  const told = await until(
    async () => (await telling.status()).networks[0]!.redecoding,
    redecoding => redecoding !== undefined || notes(data).length === 0,
    telling.err,
  )
  telling.signal('SIGKILL')
  await telling.ended
  if (told === undefined) return 0
  assert.equal(told.abi, 'renamed')
  assert.ok(told.blocksLeft > 0 && told.blocksLeft <= 80, `${told.blocksLeft}`)

  const seen: (number | null)[] = []
  for (let last = nextOf(); last !== -1 && seen.length < 12; last = nextOf()) {
    seen.push(last)
    const program = start(t, ['serve', '--port', '0'], { data })
    await until(nextOf, next => next !== last, program.err)
    await pause(Math.random() * 400)
    program.signal('SIGKILL')
    await program.ended
  }
  t.diagnostic(`killed with so much left: ${seen.join(' ')}`)
  return seen.length
}

const skip = anvilPath === undefined && 'there is no anvil for this platform'

test('a server that follows a chain does so beside it, also where the chain is reorganised', { skip }, async t => {
  const NETWORK = 'ethereum/anvil/local'
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  // Whatever it is called by, it emits Landed with the ether that was sent.
  const code = `346000527f${toEventSelector('Landed(uint256)').slice(2)}60206000a100`
  const size = (code.length / 2).toString(16)
  const { contractAddress: to } = await anvil.send({ data: `0x60${size}600c60003960${size}6000f3${code}` })
  const call = (value: number) =>
    anvil.send({
      to,
      value: `0x${value.toString(16)}`,
      data: `${toFunctionSelector('land(uint256)')}${'9'.padStart(64, '0')}`,
    })
  for (let i = 0; i < 60; i++) await call(i)

  const text = join(folder, 'Harbor.txt')
  writeFileSync(text, 'event Landed(uint256 berth)\nfunction land(uint256 berth)\n')
  const server = await serve(t, data, ['--network', NETWORK, '--rpc', anvil.url, '--ws', anvil.wsUrl])
  const total = (query?: object) => server.total(NETWORK, 'log', query)
  await until(total, logs => logs === 60, server.err)
  assert.equal(await server.total(NETWORK, 'event'), 0)

  const adding = succeed(t, ['abi', 'add', '--redecode', '--network', NETWORK, '--address', to, text], { data })
  for (let i = 0; i < 20; i++) {
    await call(100 + i)
    if (i % 6 === 5) await anvil.call('anvil_reorg', 4, [])
  }
  await adding
  await server.says(/Decoded stored blocks again/)
  await call(1)
  const head = Number(await anvil.call<string>('eth_blockNumber'))
  await untilIs(() => server.total(NETWORK, 'block'), head + 1, server.err)
  const straight = join(folder, 'straight')
  await succeed(t, ['abi', 'add', '--network', NETWORK, '--address', to, text], { data: straight })
  await succeed(t, ['index', '--network', NETWORK, '--rpc', anvil.url], { data: straight })
  const oracle = await serve(t, straight)
  const [ours, theirs] = [await everything(server, NETWORK), await everything(oracle, NETWORK)]
  assertSame(ours, theirs)
  assert.equal(await server.total(NETWORK, 'event', { term: { 'event.raw': 'Landed' } }), await total())
  assert.equal(await server.total(NETWORK, 'tx', { term: { method: 'land' } }), await total())
  assert.doesNotMatch(server.err(), /level=error/)
})
