import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeChain } from '../support/pack.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { chainsieve, serve, start, succeed, tempFolder, until, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'

const ON_TRANSACTIONS = ['Transaction', 'blockNumber.num', 'Greater', '1'] as const
const ruleOf = (name: string, url: string, change: object = {}) =>
  ruleOn(NETWORK, ON_TRANSACTIONS, [webhookTo(url)], { name, startBlock: 0, ...change })

test('rules are kept in files, and applied to a data folder and to a server', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const chain = makeChain({ blocks: 5, txs: 1, logs: 0 })
  await succeed(t, ['import', '--network', NETWORK, writePack(join(folder, 'pack.ndjson'), chain)], { data })
  await succeed(t, ['token', 'create', '--account', 'test'], { data })

  // What arrives is checked by the secret that is kept beside the rules.
  const receiver = start(t, ['receive', '--port', '0', '--account', 'test', '--json', '--status', '503'], { data })
  const url = await until(
    () => /"url":"(http:[^"]+)"/.exec(receiver.out())?.[1],
    it => it !== undefined,
  )
  const files = join(folder, 'rules')
  mkdirSync(join(files, 'deep'), { recursive: true })
  const write = (name: string, value: unknown) => writeFileSync(join(files, name), JSON.stringify(value))
  write('one.json', ruleOf('One', `${url}/one`))
  write('deep/more.json', [ruleOf('Two', `${url}/two`), ruleOf('Three', `${url}/three`, { enabled: false })])
  const ALLOW = ['--allow-target', '127.0.0.1/32']
  const cs = (...args: string[]) => succeed(t, ['rules', ...args], { data })
  const json = async (...args: string[]) => JSON.parse(await cs(...args, '--json'))

  assert.equal(
    await cs('apply', files, '--dry-run', ...ALLOW),
    'created    -  Two\ncreated    -  Three\ncreated    -  One\n3 created, 0 updated, 0 unchanged, 0 deleted. This was a dry run: nothing has changed.\n',
  )
  assert.deepEqual(await json('list'), [])
  assert.equal(
    await cs('apply', files, ...ALLOW),
    'created    1  Two\ncreated    2  Three\ncreated    3  One\n3 created, 0 updated, 0 unchanged, 0 deleted.\n',
  )
  assert.equal(
    await cs('apply', files, ...ALLOW),
    'unchanged  1  Two\nunchanged  2  Three\nunchanged  3  One\n0 created, 0 updated, 3 unchanged, 0 deleted.\n',
  )

  // Every fault of every file is told, and nothing is changed.
  write('bad.json', [
    { ...ruleOf('One', `${url}/one`), maxConfirmationCount: -1 },
    ruleOf('Two', `${url}/x`, { config: { targetType: 'Transaction', targetMap: [], alerts: [] } }),
  ])
  const bad = await chainsieve(t, ['rules', 'apply', files, '--prune', ...ALLOW], { data })
  assert.equal(bad.code, 1)
  const place = join(files, 'bad.json')
  assert.deepEqual(bad.err.trim().split('\n'), [
    `${place}: [0].maxConfirmationCount: maxConfirmationCount must be an integer from 0 to 100000, not -1.`,
    `${place}: [1].config.targetMap: targetMap must be a list of 1 to 10 conditions, not a list of 0.`,
    `${place}: [1].config.alerts: alerts must be a list of 1 to 10 alerts, not a list of 0.`,
  ])
  const large = { name: 'value', operator: 'Greater', value: '100,000' }
  const config = { ...ruleOf('Four', `${url}/four`).config, targetMap: [large] }
  write('bad.json', ruleOf('Four', `${url}/four`, { config }))
  const separated = await chainsieve(t, ['rules', 'apply', files, ...ALLOW], { data })
  assert.deepEqual(
    [separated.code, separated.err.trim()],
    [1, `${place}: config.targetMap[0].value: value must be a number, not "100,000". Write "100000".`],
  )
  assert.equal((await json('list')).length, 3)
  write('bad.json', ruleOf('Two', `${url}/two`))
  const twice = await chainsieve(t, ['rules', 'apply', files, ...ALLOW], { data })
  assert.match(twice.err, /more\.json: \[0\]\.name: .*bad\.json has a rule of this name, too/)
  write('bad.json', ruleOf('Four', `${url}/four`, { team: 'ops', description: 'x' }))
  const warned = await chainsieve(t, ['rules', 'apply', files, '--dry-run', ...ALLOW], { data })
  assert.deepEqual(
    [warned.code, warned.err.trim()],
    [0, `${place}: "Four": warning: "team" is kept, but has no effect.`],
  )

  // The same over HTTP, where the account is the token's.
  const server = await serve(t, data, [...ALLOW, '--delivery-retries', '1h'])
  const env = { CHAINSIEVE_TOKEN: server.token }
  const at = async (...args: string[]) => {
    const done = await chainsieve(t, ['rules', ...args, '--server', server.url], { data, env })
    assert.equal(done.code, 0, done.err)
    return done.out
  }
  // Rules of the data folder are those of the server.
  assert.match(
    await at('apply', files),
    /^created {4}4 {2}Four\n[\s\S]*\n1 created, 0 updated, 3 unchanged, 0 deleted\.\n$/,
  )
  write('bad.json', ruleOf('Four', `${url}/four`, { team: 'dev' }))
  const applied = JSON.parse(await at('apply', files, '--json'))
  const four = applied.updated[0]
  assert.deepEqual(
    [applied.updated.length, four.name, four.changes],
    [
      1,
      'Four',
      [
        { path: 'team', from: 'ops', to: 'dev' },
        { path: 'description', from: 'x' },
      ],
    ],
  )
  const shown = JSON.parse(await at('show', 'Four'))
  assert.deepEqual([shown.team, shown.description, shown.enabled], ['dev', undefined, true])

  // The receiver refuses, so that deliveries wait: they are cancelled with their rule.
  await until(
    () => receiver.out().split('"path":"/four"').length - 1,
    count => count >= 3,
  )
  await until(
    () => json('deliveries', '--rule', String(shown.id)),
    found => found.length === 3 && found.every((it: { tries: number }) => it.tries === 1),
  )
  assert.equal(await at('pause', 'Four'), `Rule ${shown.id} (Four) is paused. 3 queued deliveries were cancelled.\n`)
  const ledger = await json('deliveries', '--rule', String(shown.id))
  assert.deepEqual(
    ledger.map((it: { state: string; lastError: string }) => [it.state, it.lastError]),
    Array(3).fill(['cancelled', 'its rule was paused']),
  )
  assert.match(await at('apply', files), /0 created, 0 updated, 4 unchanged, 0 deleted\.\n$/)
  assert.equal(await at('resume', 'Four'), `Rule ${shown.id} (Four) is active.\n`)

  // A test tells of a receiver that fails by its exit code.
  const tested = await chainsieve(t, ['rules', 'test', 'Four', '--server', server.url, '--json'], { data, env })
  assert.equal(tested.code, 1)
  assert.equal(JSON.parse(tested.out).deliveries[0].status, 503)

  const pruned = JSON.parse(await at('apply', join(files, 'one.json'), '--prune', '--json'))
  assert.deepEqual(pruned.deleted.map((it: { name: string }) => it.name).sort(), ['Four', 'Three', 'Two'])
  assert.equal(JSON.parse(await at('list', '--json')).length, 1)
  const refused = await chainsieve(t, ['rules', 'create', join(files, 'one.json'), '--server', server.url], {
    data,
    env,
  })
  assert.equal(refused.code, 1)
  assert.match(refused.err, /There is a rule "One" already/)
  const stranger = await chainsieve(t, ['rules', 'list', '--server', server.url], {
    data,
    env: { CHAINSIEVE_TOKEN: 'cs_nobody' },
  })
  assert.equal(stranger.code, 1)
  assert.match(stranger.err, /The server answers 401/)

  const arrived = receiver
    .out()
    .split('\n')
    .filter(line => line.includes('"received"'))
    .map(line => JSON.parse(line) as { signature: string; fault?: string })
  assert.ok(arrived.length >= 10)
  for (const { signature, fault } of arrived) assert.deepEqual([signature, fault], ['good', undefined])
})
