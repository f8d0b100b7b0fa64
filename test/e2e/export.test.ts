import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { chainsieve, serve, start, succeed, tempFolder, until, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const chain = [...generateBlocks({ seed: 5, count: 12 })]

test('an export from a server is killed again and again, and the same command completes it; a pack makes the same store', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), chain)
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const server = await serve(t, data)
  const at = ['--server', server.url, '--token', server.token]
  const whole = async (accept: string) => {
    const body = '{"size":-1,"sort":[{"_doc":"asc"}]}'
    return (await server.send(`/${NETWORK}/es/log/search`, body, { headers: { accept } })).text()
  }

  const file = join(folder, 'log.csv.gz')
  const command = ['export', NETWORK, 'log', '--out', file, ...at]
  const other = { cwd: folder, data: join(folder, 'none') }
  let kills = 0
  for (const marks of [1, 2]) {
    const run = start(t, command, other)
    const lines = () => (existsSync(`${file}.resume`) ? readFileSync(`${file}.resume`, 'utf8').split('\n').length : 0)
    await Promise.race([until(lines, count => count > 1 + marks), run.ended])
    run.signal('SIGKILL')
    const { signal } = await run.ended
    if (signal === 'SIGKILL') kills++
  }
  assert.match(await succeed(t, command, other), /log\.csv\.gz has [\d,]+ hits in /)
  assert.equal(gunzipSync(readFileSync(file)).toString(), await whole('text/csv'))
  t.diagnostic(`killed ${kills} times`)

  const again = await succeed(t, command, other)
  assert.match(again, /; 0 hits added\.$/m)
  const lines = await succeed(t, ['export', NETWORK, 'log'], { data })
  assert.equal(lines, await whole('application/x-ndjson'))

  const columns = ['--args', 'columns', '--integers', 'decimal']
  const transfers = [NETWORK, 'event', '{"query":{"term":{"event.raw":"Transfer"}}}', ...columns]
  const fromServer = await succeed(t, ['export', ...transfers, ...at], other)
  assert.match(fromServer, /^\{"blockNumber":\d+,"timestamp":".*","value":\d+,"value \(units\)":/)
  assert.equal(fromServer, await succeed(t, ['export', ...transfers], { data }))

  const packed = join(folder, 'again.ndjson.gz')
  await succeed(t, ['export', NETWORK, '--pack', '--out', packed], { data })
  const copy = join(folder, 'copy')
  await succeed(t, ['import', '--network', NETWORK, packed], { data: copy })
  const everything = ['export', NETWORK, 'block,tx,log,event,call,trace,contract,token']
  assert.equal(await succeed(t, everything, { data: copy }), await succeed(t, everything, { data }))
})

test('answers and lines have the forms of values that a network has by default; packs and columns do not', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), chain.slice(0, 3))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const packed = async (name: string) => {
    await succeed(t, ['export', NETWORK, '--pack', '--out', join(folder, name)], { data })
    return readFileSync(join(folder, name))
  }
  const before = await packed('before.pack')
  const settings = `network = "${NETWORK}"\ncurrency = "ETH"\nflat-args = true\n`
  writeFileSync(join(data, 'chainsieve.toml'), `[[networks]]\n${settings}`)
  const server = await serve(t, data)
  const [tx] = (await server.search(NETWORK, 'tx', { size: 1 })).hits.hits
  const REQUESTS: [path: string, body?: unknown][] = [
    ['tx/search', { size: 20 }],
    ['event,tx/_search?scroll=1m', { size: 3 }],
    ['tx/_mget', { ids: [tx!._id] }],
    [`tx/_doc/${tx!._id}`],
  ]
  const ask = async (path: string, body: unknown, parameters: string) => {
    const separator = path.includes('?') ? '&' : '?'
    const reply = await server.ask<{ _scroll_id?: string; took?: number }>(
      `/${NETWORK}/es/${path}${parameters && separator}${parameters}`,
      body,
    )
    const { _scroll_id: scroll_id, took: _, ...answer } = reply.body
    if (scroll_id === undefined) return answer
    const next = await server.ask<{ hits: unknown }>(`/${NETWORK}/es/_search/scroll`, { scroll_id })
    return [answer, next.body.hits]
  }
  for (const [path, body] of REQUESTS) {
    const shown = await ask(path, body, '')
    assert.match(JSON.stringify(shown), /"eth":|"value\.hex":/, path)
    assert.deepEqual(shown, await ask(path, body, 'args=flat&eth=true'), path)
    assert.doesNotMatch(JSON.stringify(await ask(path, body, 'args=nested&eth=false')), /"eth":|"value\.hex":/, path)
  }

  const body = '{"size":-1,"sort":[{"_doc":"asc"}]}'
  const accept = { headers: { accept: 'application/x-ndjson' } }
  const lines = await (await server.send(`/${NETWORK}/es/tx,event/search`, body, accept)).text()
  assert.match(lines, /"eth":.*"value\.hex":/s)
  assert.equal(await succeed(t, ['export', NETWORK, 'tx,event'], { data }), lines)
  assert.match(await succeed(t, ['search', NETWORK, 'event', '{"size":1}'], { data }), /"value\.hex":/)

  const columns = ['export', NETWORK, 'event', '{"query":{"term":{"event.raw":"Transfer"}}}', '--args', 'columns']
  const rows = await succeed(t, columns, { data })
  assert.match(rows, /"value \(units\)":\d/)
  const at = ['--server', server.url, '--token', server.token]
  assert.equal(await succeed(t, [...columns, ...at], { cwd: folder }), rows)
  assert.deepEqual(await packed('after.pack'), before)
})

test('what an export does not do is refused by name, and writes nothing', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  await succeed(t, ['import', '--network', NETWORK, writePack(join(folder, 'pack.ndjson'), chain.slice(0, 3))], {
    data,
  })
  const CASES: [args: string[], code: number, says: RegExp][] = [
    [['export', NETWORK, 'log', '{"size":1}', '--out', 'x.csv'], 2, /\[size\] does not work with an export/],
    [['export', NETWORK, 'nothing', '--out', 'x.csv'], 2, /there is no entity "nothing"/],
    [['export', 'a/b/c', 'log', '--out', 'x.csv'], 2, /there is no network a\/b\/c/],
    [['export', NETWORK, '--out', 'x.csv'], 2, /Which entity\?/],
    [['export', NETWORK, 'log', '--format', 'parquet'], 2, /Parquet needs a file: name it with --out/],
    [['export', NETWORK, 'log', '--out', 'x.parquet.gz'], 2, /name the file without \.gz/],
    [['export', NETWORK, 'log', '--args', 'columns'], 2, /need one entity, event or call, not log/],
    [['export', NETWORK, 'event', '--args', 'columns', '--out', 'x.csv'], 2, /selects .*Add \{"term":\{"event\.raw":/],
    [['export', NETWORK, 'event', '--integers', 'decimal'], 2, /--integers needs --args columns/],
    [['export', NETWORK, '--pack', '--args', 'columns'], 2, /takes no --args/],
    [['export', NETWORK, 'log', '--pack'], 2, /takes neither an entity nor a query/],
    [['export', NETWORK, '--pack', '--server', 'http://127.0.0.1:1', '--token', 'x'], 2, /name it with --data/],
    [['export', NETWORK, 'log', '--server', 'http://127.0.0.1:1'], 2, /--server needs a token/],
    [['export', NETWORK, 'log', '--out', 'pack.ndjson'], 2, /pack\.ndjson exists, .*choose another file/],
    [['export', NETWORK, 'log', '--out', 'none/x.csv'], 2, /there is no folder .*none: create it/],
  ]
  const size = statSync(join(folder, 'pack.ndjson')).size
  for (const [args, code, says] of CASES) {
    const ended = await chainsieve(t, args, { data, cwd: folder })
    assert.match(ended.err, says)
    assert.equal(ended.code, code, args.join(' '))
    assert.equal(ended.out, '')
  }
  for (const name of ['x.csv', 'x.csv.resume', 'pack.ndjson.resume'])
    assert.equal(existsSync(join(folder, name)), false)
  assert.equal(statSync(join(folder, 'pack.ndjson')).size, size)
})
