import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { openAccounts } from '../../../src/accounts/index.ts'
import type { Services } from '../../../src/app/index.ts'
import type { Summary } from '../../../src/app/jobs.ts'
import type { Verified } from '../../../src/app/verify.ts'
import { refuse, retry, stop } from '../../../src/lib/errors.ts'
import { aborted } from '../../../src/lib/shutdown.ts'
import type { SearchService } from '../../../src/search/service.ts'
import { NO_ACCOUNT } from '../../../src/search/service.ts'
import { echo } from '../../http/support.ts'
import { chainsieve, folder, refused, said, wrong } from './support.ts'

const SUMMARY: Summary = {
  blocks: 1_001,
  logs: 2_000,
  events: 1,
  added: [{ from: 17_000_000, to: 17_001_000 }],
  held: [
    { from: 1, to: 1 },
    { from: 17_000_000, to: 17_001_000 },
    { from: 17_001_002, to: 17_001_002 },
  ],
  missing: [],
  unread: [],
}
const SUMMARY_TEXT = `a/b/c: added 1,001 blocks with 2,000 logs and 1 event.
Added: 17000000-17001000 (1,001 blocks)
Holes: 2-16999999 (16,999,998 blocks), 17001001 (1 block)
`
const NODE = ['--network', 'a/b/c', '--rpc', 'http://x']

test('token create prints the token and nothing else, and it is good', async () => {
  const { code, out, err } = await chainsieve(['token', 'create', '--account', 'alice', '--data', 'tokens'])
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^cs_[\w-]{43}\n$/)
  const expiring = await chainsieve(['token', 'create', '--account', 'bob', '--expires', '30d', '--data', 'tokens'])
  const accounts = openAccounts(join(folder, 'tokens'))
  assert.equal(accounts.verify(out.trim())?.name, 'alice')
  const [first, second] = accounts.list()
  accounts.close()
  assert.equal(second!.expiresAt! - second!.createdAt, 30 * 86_400_000)

  const revoked = await chainsieve(['token', 'revoke', '1', '--data', 'tokens'])
  assert.deepEqual(revoked, said('Token 1 is revoked.\n'))
  const time = (at: number | null) => new Date(at!).toISOString().replace(/\.\d+/, '')
  const { out: table } = await chainsieve(['token', 'list', '--data', 'tokens'])
  const used = /alice .* (\S+)\n/.exec(table)?.[1]
  assert.equal(
    table,
    [
      'ID  ACCOUNT  TOKEN     SCOPES        RATE  STATE    CREATED               EXPIRES               LAST USED',
      `1   alice    ${out.slice(0, 7)}…  search,rules  -     revoked  ${time(first!.createdAt)}  -                     ${used}`,
      `2   bob      ${expiring.out.slice(0, 7)}…  search,rules  -     valid    ${time(second!.createdAt)}  ${time(second!.expiresAt)}  -`,
      '',
    ].join('\n'),
  )
  const listed = JSON.parse((await chainsieve(['token', 'list', '--data', 'tokens', '--json'])).out)
  assert.deepEqual(
    listed.map(({ id, account, hint }: Record<string, unknown>) => [id, account, hint]),
    [
      [1, 'alice', out.slice(0, 7)],
      [2, 'bob', expiring.out.slice(0, 7)],
    ],
  )
})

test('token limit changes how many requests a minute a token may make', async () => {
  const ask = (...args: string[]) => chainsieve([...args, '--data', 'limited'])
  await ask('token', 'create', '--account', 'alice', '--rate', '60')
  assert.match((await ask('token', 'list')).out, /^1 .* 60\/min {2}valid /m)
  const said = async (...args: string[]) => (await ask('token', 'limit', ...args)).out
  assert.equal(await said('1', '--rate', '1'), 'Token 1 may make 1 request a minute.\n')
  assert.match((await ask('token', 'list')).out, /^1 .* 1\/min +valid /m)
  assert.equal(await said('1'), 'Token 1 has the limit of all tokens.\n')
  assert.equal(await said('1', '--rate', '7', '--json'), '{"token":1,"rate":7}\n')
  assert.match((await ask('token', 'limit', '1', '--rate', '0')).err, /--rate takes an integer of at least 1, not "0"/)
  assert.match((await ask('token', 'limit', '9')).err, /There is no token 9: chainsieve token list shows all tokens/)
  assert.equal((await ask('token', 'limit')).code, 2)
})

test('token rotate prints the new token and nothing else, and audit tells who did what', async () => {
  const ask = (...args: string[]) => chainsieve([...args, '--data', 'rotated'])
  await ask('token', 'create', '--account', 'alice', '--scope', 'rules', '--scope', 'search')
  const { code, out, err } = await ask('token', 'rotate', '1', '--overlap', '0s')
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^cs_[\w-]{43}\n$/)
  assert.match((await ask('token', 'list')).out, /^1 .* search,rules {2}- +expired, replaced by 2 .*\n2 .* valid /m)
  assert.match((await ask('token', 'rotate', '1')).err, /Token 1 was replaced by token 2: rotate that one\.\n/)
  assert.equal((await ask('token', 'rotate', 'x')).code, 2)
  const wrong = await ask('token', 'create', '--account', 'a', '--scope', 'all')
  assert.match(wrong.err, /--scope takes search or rules or admin, not "all"/)

  mkdirSync(join(folder, 'rotated/abis'), { recursive: true })
  writeFileSync(join(folder, 'rotated/abis/0123456789abcdef.json'), '{"name":"x","events":[],"functions":[]}')
  assert.equal((await chainsieve(['abi', 'remove', 'x', '--data', 'rotated'])).code, 0)
  const entries = JSON.parse((await ask('audit', '--json')).out) as Record<string, unknown>[]
  assert.deepEqual(
    entries.map(({ action, target }) => [action, target]),
    [
      ['abi remove', 'x'],
      ['token rotate', '1'],
      ['token create', '1'],
    ],
  )
  const { user, at, account, address, detail, count } = entries[2]!
  assert.deepEqual([user, account, address, count], [userInfo().username, null, null, 1])
  assert.deepEqual(detail, { account: 'alice', scopes: 'rules,search' })
  assert.match(String(at), /^\d{4}-.*Z$/)
  const table = (await ask('audit', '--action', 'token', '--limit', '1')).out
  assert.match(table, /^WHEN +WHO .*\n\S+Z +\S+ \(command line\) +- +this machine +token rotate +1 +account: alice, /)
  assert.match(table, /\nThere are older entries: --limit N lists more\.\n$/)
  assert.equal((await ask('audit', '--action', 'toke')).out, 'There are no such entries.\n')
  assert.equal((await chainsieve(['audit', '--data', 'nowhere'])).code, 1)
})

test('tokens that are not there are told of, and no folder is made by looking', async () => {
  const nowhere = join(folder, 'nowhere')
  assert.deepEqual(
    await chainsieve(['token', 'list', '--data', 'nowhere']),
    refused(
      `There are no tokens in ${nowhere}: create one with chainsieve token create, or name the right folder with --data.`,
    ),
  )
  assert.equal(existsSync(nowhere), false)
  assert.deepEqual(
    await chainsieve(['token', 'revoke', '99', '--data', 'tokens']),
    refused('There is no token 99: chainsieve token list shows all tokens.'),
  )
  assert.deepEqual(
    await chainsieve(['token', 'revoke', 'alice', '--data', 'tokens']),
    wrong('A token is revoked by its number, which chainsieve token list shows.', 'token revoke'),
  )
  assert.deepEqual(
    await chainsieve(['token', 'create', '--account', ' ', '--data', 'tokens']),
    refused(`An account's name has 1 to 200 printable characters, not " ".`),
  )
})

test('index tells what it added and where holes are', async () => {
  const index: Services['index'] = async (_, network, { progress }) => {
    assert.equal(network.network, 'a/b/c')
    progress.update({ blocks: 1_001, logs: 2_000, events: 1, done: 1_001, total: 1_001 })
    return SUMMARY
  }
  const plain = await chainsieve(['index', ...NODE], { index })
  assert.deepEqual([plain.code, plain.out], [0, SUMMARY_TEXT])
  assert.match(
    plain.err,
    /^\S+ info {2}Ended network=a\/b\/c blocks=1001 logs=2000 events=1 percent=100 blocksPerSecond=\d+ eventsPerSecond=\d+\n$/,
  )
  const json = await chainsieve(['index', ...NODE, '--json'], { index, tty: true })
  assert.deepEqual(JSON.parse(json.out), {
    network: 'a/b/c',
    ...SUMMARY,
    holes: [
      { from: 2, to: 16_999_999 },
      { from: 17_001_001, to: 17_001_001 },
    ],
  })
  assert.equal(JSON.parse(json.err).message, 'Ended')
  const tty = await chainsieve(['index', ...NODE], { index, tty: true })
  assert.match(tty.err, /^a\/b\/c {2}█{20} 100 % {2}1,001 blocks \([\d,]+\/s\) {2}1 events \([\d,]+\/s\)\n$/)
})

test('what a back-fill or an import has left is told, also where it failed', async () => {
  const failure = stop('wrong_chain', 'the node is of chain 2')
  const missing = [{ from: 5, to: 9 }]
  const index: Services['index'] = async () => ({ ...SUMMARY, missing, failure })
  const failed = await chainsieve(['index', ...NODE], { index })
  assert.deepEqual([failed.code, failed.out], [1, `${SUMMARY_TEXT}Missing: 5-9 (5 blocks)\n`])
  assert.match(failed.err, /Failed before the end; stored blocks are kept, .*\nchainsieve: the node is of chain 2\n$/)
  const json = await chainsieve(['index', ...NODE, '--json'], { index })
  assert.deepEqual(JSON.parse(json.out).missing, missing)

  const unread = [
    { file: 'a.ndjson', begun: true },
    { file: 'b.ndjson', begun: false },
  ]
  const importPacks: Services['importPacks'] = async () => ({ ...SUMMARY, unread, failure })
  const broken = await chainsieve(['import', '--network', 'a/b/c', 'a.ndjson', 'b.ndjson'], { importPacks })
  assert.deepEqual(
    [broken.code, broken.out],
    [1, `${SUMMARY_TEXT}Missing: the rest of a.ndjson\nMissing: all of b.ndjson\n`],
  )
})

test('import takes its files, and the only network of the config file where none is named', async () => {
  writeFileSync(join(folder, 'one.toml'), '[[networks]]\nnetwork = "a/b/c"\n')
  writeFileSync(join(folder, 'two.toml'), '[[networks]]\nnetwork = "a/b/c"\n[[networks]]\nnetwork = "d/e/f"\n')
  const importPacks: Services['importPacks'] = async (_, network, files) => {
    assert.deepEqual([network, files], ['a/b/c', ['x.ndjson', 'y.ndjson.gz']])
    return { ...SUMMARY, added: [], held: [] }
  }
  const done = await chainsieve(['import', '--config', 'one.toml', 'x.ndjson', 'y.ndjson.gz'], { importPacks })
  const text = 'a/b/c: added 1,001 blocks with 2,000 logs and 1 event.\nAdded: none\nHoles: none\n'
  assert.deepEqual([done.code, done.out], [0, text])
  assert.deepEqual(
    await chainsieve(['import', '--config', 'two.toml', 'x.ndjson']),
    wrong('Which network? Add --network with one of a/b/c, d/e/f.', 'import'),
  )
})

test('a signal stops the work, what was opened is closed, and an unfinished task exits with 1', async () => {
  const signals = new EventEmitter() as unknown as NodeJS.Process
  const closed: string[] = []
  const index: Services['index'] = async (_, __, { shutdown }) => {
    shutdown.add('store', () => closed.push('store'))
    setTimeout(() => signals.emit('SIGINT'), 5)
    await aborted(shutdown.signal)
    return SUMMARY
  }
  const { code, out, err } = await chainsieve(['index', ...NODE], { index, signals })
  assert.deepEqual([code, out, closed], [1, SUMMARY_TEXT, ['store']])
  assert.match(
    err,
    /Stopping signal=SIGINT\n(.*\n)*.*warn {2}Stopped before the end; the same command continues here\n$/,
  )

  const serve: Services['serve'] = async (_, { shutdown }) => {
    setTimeout(() => signals.emit('SIGTERM'), 5)
    await aborted(shutdown.signal)
  }
  assert.equal((await chainsieve(['serve'], { serve, signals })).code, 0)

  const abandoned: Services['status'] = async (_, { shutdown }) => {
    signals.emit('SIGINT')
    shutdown.signal.throwIfAborted()
    throw new Error('not reached')
  }
  const stopped = await chainsieve(['status'], { status: abandoned, signals })
  assert.deepEqual([stopped.code, stopped.err.split('\n').at(-2)], [1, 'chainsieve: Stopped before the end.'])
})

const answering = (answer: Awaited<ReturnType<SearchService['search']>>, asked: unknown[] = []): Partial<Services> => ({
  openSearch: async () => ({
    networks: () => ['a/b/c'],
    get: () => Promise.reject(new Error('not asked for')),
    documents: () => Promise.reject(new Error('not asked for')),
    render: () => Promise.reject(new Error('not asked for')),
    holdings: () => Promise.reject(new Error('not asked for')),
    suggest: () => Promise.reject(new Error('not asked for')),
    similar: () => Promise.reject(new Error('not asked for')),
    cursors: echo.cursors,
    search: async ({ signal: _, body, ...call }) => {
      asked.push({ ...call, body: body && Buffer.from(body).toString() })
      return answer
    },
  }),
})

test('search asks with a query from the command line, from standard input, or with none', async () => {
  const asked: unknown[] = []
  const services = answering({ status: 200, body: Buffer.from('{"took":1}') }, asked)
  const done = said('{"took":1}\n')
  assert.deepEqual(await chainsieve(['search', 'a/b/c', 'tx'], services), done)
  assert.deepEqual(await chainsieve(['search', 'a/b/c', 'block,tx', '{"size":1}'], services), done)
  assert.deepEqual(await chainsieve(['search', 'a/b/c', 'tx', '-'], { ...services, stdin: '{"size":2}' }), done)
  // A network that nobody knows has no currency, of which parameters would say something.
  const rest = { network: 'a/b/c', account: NO_ACCOUNT, parameters: [] }
  assert.deepEqual(asked, [
    { ...rest, entities: 'tx', body: undefined },
    { ...rest, entities: 'block,tx', body: '{"size":1}' },
    { ...rest, entities: 'tx', body: '{"size":2}' },
  ])
})

test('search passes a streamed answer on, and a refused query to standard error', async () => {
  const body = ReadableStream.from([Buffer.from('{"took"'), Buffer.from(':1}')]) as ReadableStream<Uint8Array>
  const streamed = await chainsieve(['search', 'a/b/c', 'tx'], answering({ status: 200, body }))
  assert.deepEqual(streamed, said('{"took":1}\n'))
  const refused = await chainsieve(
    ['search', 'a/b/c', 'tx', '{'],
    answering({ status: 400, body: Buffer.from('{"error":1}') }),
  )
  assert.deepEqual(refused, { code: 2, out: '', err: '{"error":1}\n' })
  const failed = await chainsieve(
    ['search', 'a/b/c', 'tx'],
    answering({ status: 500, body: Buffer.from('{"error":1}') }),
  )
  assert.deepEqual(failed, { code: 1, out: '', err: '{"error":1}\n' })
})

test('search refuses names that are not known', async () => {
  const services = answering({ status: 200, body: Buffer.from('{}') })
  assert.deepEqual(
    await chainsieve(['search', 'a/b/d', 'tx'], services),
    wrong(`no such index [a-b-d-tx]: there is no network a/b/d. Did you mean "a/b/c"? (known: a/b/c)`, 'search'),
  )
  assert.deepEqual(
    await chainsieve(['search', 'a/b/c', 'txs'], services),
    wrong(
      `no such index [a-b-c-txs]: there is no entity "txs". Did you mean "tx"? (known: block, tx, log, event, trace, call, contract, token)`,
      'search',
    ),
  )
})

test('a reader that has had enough is no failure', async () => {
  const stdout = new Writable({
    write: (_, __, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  })
  const streams = { stdin: process.stdin, stdout, stderr: { write: () => {} } }
  const { code } = await chainsieve(['search', 'a/b/c', 'tx'], {
    ...answering({ status: 200, body: Buffer.alloc(1_000_000, ' ') }),
    streams,
  })
  assert.equal(code, 0)
})

test('abi add keeps ABIs of files, abi list shows them, and abi remove removes them', async () => {
  const ask = (...argv: string[]) => chainsieve(['abi', ...argv, '--data', join(folder, 'abis')])
  const abiFile = join(folder, 'Token.json')
  const entries = ['Moored', 'Sailed'].map(name => ({ type: 'event', name, inputs: [] }))
  writeFileSync(abiFile, JSON.stringify([...entries, { type: 'function', name: 'sail', inputs: [], outputs: [] }]))
  const head = (width: number) => `NAME   NETWORK  ${'FOR'.padEnd(width)}  PROBABILITY  EVENTS  FUNCTIONS\n`
  const address = `0x${'ab'.repeat(20)}`
  const codeHash = `0x${'cd'.repeat(32)}`
  const given = { name: 'Token', probability: 1, events: 2, functions: 1 }
  assert.deepEqual(
    await ask('add', abiFile, '--address', address, '--network', 'a/b/c'),
    said(`${head(42)}Token  a/b/c    ${address}  1            2       1\n`),
  )
  assert.equal(
    (await ask('add', abiFile, '--code-hash', codeHash)).out,
    `${head(71)}Token  any      code ${codeHash}  1            2       1\n`,
  )
  assert.match((await ask('add', '--redecode', abiFile)).out, /\nNo stored blocks need decoding again\.\n$/)
  mkdirSync(join(folder, 'abis/networks'))
  writeFileSync(join(folder, 'abis/networks/a~b~c.sqlite'), '')
  assert.match(
    (await ask('add', '--redecode', abiFile)).out,
    /\nThe next chainsieve serve will decode the stored blocks of a\/b\/c again\.\n$/,
  )
  const [redecoded] = JSON.parse((await ask('add', '--redecode', abiFile, '--json')).out)
  const general = { ...given, network: null, address: null, codeHash: null }
  assert.deepEqual(redecoded, { ...general, redecoding: { networks: ['a/b/c'], now: false } })

  const ofCode = { ...given, network: null, address: null, codeHash }
  const listed = JSON.parse((await ask('list', '--json')).out) as unknown[]
  const all = [general, { ...given, network: 'a/b/c', address, codeHash: null }, ofCode]
  assert.deepEqual(new Set(listed), new Set(all))
  assert.deepEqual(JSON.parse((await ask('remove', 'Token', '--code-hash', codeHash, '--json')).out), [ofCode])
  assert.deepEqual(JSON.parse((await ask('list', '--json')).out).length, 2)

  const wrongs: [argv: string[], message: string][] = [
    [['add', 't.json', '--address', address], 'On which network is that contract? Add --network T/B/N.'],
    [['add', 't.json', '--address', '0x12'], '--address takes 0x and 40 hex digits, not "0x12".'],
    [
      ['add', 't.json', '--address', address, '--network', 'a/b/c', '--code-hash', codeHash],
      'An ABI is for a contract or for a code: give --address or --code-hash, not both.',
    ],
    [
      ['add', 't.json', '--code-hash', address],
      `--code-hash takes 0x and 64 hex digits, the Keccak-256 of a contract's code, not "${address}".`,
    ],
    [['remove', 'Pair', '--address', 'x'], '--address takes 0x and 40 hex digits, not "x".'],
  ]
  for (const [argv, message] of wrongs) assert.deepEqual(await ask(...argv), wrong(message, `abi ${argv[0]}`))
})

test('a failure is told in one line, a fault of the program with its place, neither with a secret', async () => {
  const failing = (error: Error) => ({ status: () => Promise.reject(error) })
  const down = retry('node_down', 'https://user:SESAME@x refused the connection')
  assert.deepEqual(
    await chainsieve(['status'], failing(stop('no_node', 'no node answers', down))),
    refused('no node answers (https://[secret]@x refused the connection)'),
  )
  assert.deepEqual(
    await chainsieve(['status'], failing(refuse('pack_broken', 'x.ndjson, line 3: cut off'))),
    refused('x.ndjson, line 3: cut off'),
  )
  const bug = await chainsieve(['status'], failing(new TypeError('x is undefined')))
  assert.equal(bug.code, 1)
  assert.match(
    bug.err,
    /^chainsieve: This is a fault in Chainsieve. Please report it:\nTypeError: x is undefined\n {4}at /,
  )
  const json = await chainsieve(['status', '--json'], failing(stop('no_node', 'no node answers')))
  const { time: _, ...line } = JSON.parse(json.err)
  assert.deepEqual(
    [json.code, line],
    [1, { level: 'error', message: 'Failed', command: 'status', error: 'no node answers' }],
  )
})

test('verify tells of each file, and exits with 1 where one is damaged', async () => {
  const files: Verified[] = [
    { file: '/data/networks/a~b~c.sqlite', faults: [], unchecked: false },
    { file: '/data/networks/a~b~d.sqlite', faults: [], unchecked: true },
  ]
  const asked: (string | undefined)[] = []
  const verify: Services['verify'] = async (_, network, deep, { progress }) => {
    assert.equal(deep, false)
    asked.push(network)
    const shown = progress('a/b/c')
    shown.update({ blocks: 0, logs: 0, events: 0, done: 10, total: 10 })
    shown.finish()
    return files
  }
  assert.deepEqual(await chainsieve(['verify', 'a/b/c'], { verify, tty: true }), {
    code: 0,
    out:
      '/data/networks/a~b~c.sqlite: is as it was written.\n' +
      '/data/networks/a~b~d.sqlite: has no checksums yet. They are made when a server or an import writes to it next.\n',
    err: 'a/b/c  ████████████████████ 100 %\n',
  })
  files[0]!.faults.push('1 of 3 pages do not match their checksums: 2')
  const { code, out } = await chainsieve(['verify'], { verify })
  assert.equal(code, 1)
  assert.match(
    out,
    /c\.sqlite: is damaged\. 1 of 3 pages do not match their checksums: 2\. Check the disk, .* index again\./,
  )
  assert.deepEqual(JSON.parse((await chainsieve(['verify', '--json'], { verify })).out), files)
  assert.deepEqual(asked, ['a/b/c', undefined, undefined])
  assert.equal((await chainsieve(['verify', 'mainnet'], { verify })).code, 2)
})

test('prune has blocks indexed again that the cluster lost', async () => {
  let forgotten = [{ from: 0, to: 99 }]
  let waiting = false
  const forget: Services['forget'] = async (_, { network }) => ({ network, forgotten, waiting })
  const cluster = ['--store', 'opensearch', '--opensearch-url', 'http://127.0.0.1:9']
  const ask = (...more: string[]) => chainsieve(['prune', '--network', 'a/b/c', '--lost', ...more], { forget })
  const { out } = await ask(...cluster)
  assert.match(out, /^a\/b\/c: removed 0-99 \(100 blocks\)\. A server with a node indexes them again by itself/)
  assert.deepEqual(JSON.parse((await ask(...cluster, '--json')).out), { network: 'a/b/c', forgotten, waiting })
  forgotten = []
  assert.match((await ask(...cluster)).out, /^a\/b\/c: the file has all that the cluster lost, if anything\./)
  waiting = true
  assert.equal((await ask(...cluster)).out, 'The program that uses the data folder does it in the background.\n')
  for (const [more, message] of [
    [[], /a\/b\/c has no cluster: add --store opensearch/],
    [['--before', '5', ...cluster], /Give --lost alone/],
  ] as const) {
    const { code, err } = await ask(...more)
    assert.equal(code, 2)
    assert.match(err, message)
  }
})

test('prune removes what is outside of scopes where it is told which these are', async () => {
  const asked: unknown[] = []
  const outside = { blocks: 1, transactions: 2, logs: 3 }
  const narrow: Services['narrow'] = async (_, { network, scoping }, dryRun) => {
    asked.push([scoping!.scopes[0]!.addresses, dryRun])
    return { network, outside: dryRun ? outside : null, waiting: false }
  }
  const ask = (...more: string[]) => chainsieve(['prune', '--network', 'a/b/c', ...more], { narrow })
  const contract = `0x${'1'.repeat(40)}`
  const counted = await ask('--outside-scopes', '--dry-run', '--contract', contract)
  assert.equal(counted.out, 'a/b/c: outside of the scopes: 3 logs, 2 transactions, 1 blocks. Nothing was removed.\n')
  assert.deepEqual(JSON.parse((await ask('--outside-scopes', '--json', '--contract', contract)).out), {
    ...{ network: 'a/b/c', outside: null, waiting: false },
  })
  assert.deepEqual(asked, [
    [[contract], true],
    [[contract], false],
  ])
  for (const [more, message] of [
    [['--outside-scopes'], /a\/b\/c has no scopes: add --contract or --event/],
    [['--outside-scopes', '--before', '5', '--contract', contract], /either --before or --outside-scopes/],
    [['--dry-run'], /--dry-run belongs to --outside-scopes/],
    [['--contract', contract], /What should be removed\? .*--outside-scopes/],
  ] as const) {
    const { code, err } = await ask(...more)
    assert.equal(code, 2)
    assert.match(err, message)
  }
  assert.equal(asked.length, 2)
})
