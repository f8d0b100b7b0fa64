import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { toEventSelector } from 'viem'
import type { DevNews } from '../../src/dev/chain-news.ts'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, pause, start, tempFolder, until } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const EVENT = 'ChainsieveDevProbed(uint256)'

/** Creation code of a contract that, called without data, emits the event with the ether sent, and reverts when called with any. */
const PROBE = (() => {
  const code = `3660${'2f'}5734600052${`7f${toEventSelector(EVENT).slice(2)}`}60206000a1005b60006000fd`
  const size = (code.length / 2).toString(16).padStart(2, '0')
  return `60${size}600c60003960${size}6000f3${code}`
})()

const probesOn = ({ send }: Anvil) => ({
  deploy: async () => (await send({ data: `0x${PROBE}` })).contractAddress,
  probe: (to: string, value: number) => send({ to, value: `0x${value.toString(16)}` }),
  fail: (to: string) => send({ to, data: '0xfeedbeef' }),
})

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const startDev = (t: TestContext, url: string, { args = [] as string[], foundry = false } = {}) => {
  const folder = tempFolder(t)
  const [project, temporary] = [join(folder, 'project'), join(folder, 'tmp')]
  for (const name of [project, temporary]) mkdirSync(name)
  if (foundry) writeFileSync(join(project, 'foundry.toml'), '[profile.default]\nout = "built"\n')
  const program = start(t, ['dev', '--port', '0', '--rpc', url, ...args], {
    cwd: project,
    env: { TMPDIR: temporary },
  })
  return {
    ...program,
    build: (name: string, event: string) => {
      const [word = '', type = ''] = event.split(/[()]/)
      const abi = [{ type: 'event', name: word, inputs: [{ name: 'amount', type, indexed: false }] }]
      mkdirSync(join(project, 'built', `${name}.sol`), { recursive: true })
      const artifact = { abi, bytecode: { object: `0x${PROBE}` } }
      writeFileSync(join(project, 'built', `${name}.sol`, `${name}.json`), JSON.stringify(artifact))
    },
    folders: () => readdirSync(temporary).filter(name => name.startsWith('chainsieve-dev-')),
    says: (pattern: RegExp) =>
      until(
        () => program.out(),
        text => pattern.test(text),
        () => program.err(),
      ),
  }
}

test('without a project, a node that comes later: waits, says so once, prints what happens, and leaves nothing behind', {
  skip,
}, async t => {
  const port = await freePort()
  const dev = startDev(t, `http://127.0.0.1:${port}`)
  await dev.says(/Waiting for a node/)
  await pause(2_500)
  assert.equal(dev.folders().length, 1)

  const anvil = await startAnvil({ after: fn => after(t, fn) }, [], port)
  await dev.says(/Follows chain 31337/)
  const { deploy, probe, fail } = probesOn(anvil)
  const address = await deploy()
  await probe(address, 25)
  await fail(address)
  await dev.says(/FAILED/)

  const [, url, token] = /at (http:\S+) for[\s\S]*?Token: (\S+)/.exec(dev.out())!
  assert.match(dev.out(), new RegExp(`^Console: ${url}/console/$`, 'm'))
  const answer = await fetch(`${url}/ethereum/dev/local/es/tx/search/`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(((await answer.json()) as { hits: { total: number } }).hits.total, 3)

  dev.signal('SIGINT')
  const { code, out } = await dev.ended
  assert.equal(code, 0)
  assert.deepEqual(dev.folders(), [])
  const lines = out
    .replaceAll(/\d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/0x[0-9a-f]{64}/g, 'HASH')
    .replaceAll('0x5FbDB2315678afecb367f032d93F642f64180aa3', 'ADDRESS')
    .replaceAll(/gas [\d,]+/g, 'gas N')
    .split('\n')
    .slice(5)
  assert.deepEqual(lines, [
    'There is no Foundry or Hardhat project in this folder: decodes by the bundled registry of signatures only.',
    `Waiting for a node at http://127.0.0.1:${port} (ECONNREFUSED): start anvil or hardhat node there, or name another node by --rpc.`,
    `Follows chain 31337 at http://127.0.0.1:${port} from block 0 on; its head is block 0.`,
    '#1    TIME  tx     new contract at ADDRESS  from 0xf39F…2266  gas N  HASH  ok',
    '#2    TIME  tx     ADDRESS with 25 wei  from 0xf39F…2266  gas N  HASH  ok',
    '#2    TIME  log    ADDRESS  no ABI for topic HASH, 32 bytes of data',
    '#3    TIME  tx     ADDRESS.0xfeedbeef()  from 0xf39F…2266  gas N  HASH  FAILED: Reverted',
    '',
  ])
})

test('a project that is rebuilt, a chain that goes back, and a node that is started anew', { skip }, async t => {
  const first = await startAnvil({ after: fn => after(t, fn) })
  const port = Number(new URL(first.url).port)
  const dev = startDev(t, first.url, { args: ['--json'], foundry: true })
  const news = () =>
    dev
      .out()
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as DevNews)
  const untilTold = (holds: (news: DevNews[]) => boolean) => until(news, holds, dev.err)
  const told = () =>
    news().flatMap(it => {
      if (it.type === 'tx') return [`${it.block} tx ${it.contract} ${it.status}`]
      if (it.type === 'event') return [`${it.block} ${it.contract} ${it.text} ${it.probability}`]
      if (it.type === 'log') return [`${it.block} ${it.contract} ?`]
      if (it.type === 'rollback') return [`back to ${it.to}`]
      return []
    })
  const tells = (line: string) => until(told, lines => lines.includes(line), dev.err)

  const { deploy, probe } = probesOn(first)
  const address = await deploy()
  await probe(address, 1)
  await tells('2 null ?')

  dev.build('Probe', EVENT)
  await untilTold(all => all.some(it => it.type === 'artifacts' && it.contracts === 1))
  // With the next block the indexing thread looks whether something has changed, where its last look is a second old.
  await pause(1_100)
  const snapshot = await first.call('evm_snapshot')
  await probe(address, 2)
  await tells('3 Probe ChainsieveDevProbed(amount=2) 1')

  const [serving] = news() as [Extract<DevNews, { type: 'serving' }>]
  const amounts = async () => {
    const answer = await fetch(`${serving.url}/${serving.network}/es/event/search/`, {
      headers: { authorization: `Bearer ${serving.token}` },
    })
    const { hits } = (await answer.json()) as { hits: { hits: { _source: { str: string } }[] } }
    return hits.hits.map(({ _source }) => _source.str).sort()
  }
  assert.deepEqual(await amounts(), ['ChainsieveDevProbed(amount=2)'])
  await first.call('evm_revert', snapshot)
  await tells('back to 2')
  assert.deepEqual(await amounts(), [])
  await probe(address, 3)
  await tells('3 Probe ChainsieveDevProbed(amount=3) 1')
  assert.deepEqual(await amounts(), ['ChainsieveDevProbed(amount=3)'])

  await first.stop()
  await untilTold(all => all.some(({ type }) => type === 'waiting'))
  const second = await startAnvil({ after: fn => after(t, fn) }, ['--timestamp', '1700000000'], port)
  const again = probesOn(second)
  await tells('back to -1')
  assert.deepEqual(await amounts(), [])
  await again.probe(await again.deploy(), 4)
  await tells('2 Probe ChainsieveDevProbed(amount=4) 1')
  assert.deepEqual(await amounts(), ['ChainsieveDevProbed(amount=4)'])
  await second.stop()

  const third = await startAnvil({ after: fn => after(t, fn) }, ['--chain-id', '4242'], port)
  await untilTold(all => all.some(it => it.type === 'node' && it.chainId === 4242))
  const other = probesOn(third)
  await other.probe(await other.deploy(), 5)
  await tells('2 Probe ChainsieveDevProbed(amount=5) 1')
  assert.deepEqual(await amounts(), ['ChainsieveDevProbed(amount=5)'])

  assert.deepEqual(told(), [
    '1 tx null true',
    '2 tx null true',
    '2 null ?',
    '3 tx Probe true',
    '3 Probe ChainsieveDevProbed(amount=2) 1',
    'back to 2',
    '3 tx Probe true',
    '3 Probe ChainsieveDevProbed(amount=3) 1',
    'back to -1',
    '1 tx Probe true',
    '2 tx Probe true',
    '2 Probe ChainsieveDevProbed(amount=4) 1',
    'back to -1',
    '1 tx Probe true',
    '2 tx Probe true',
    '2 Probe ChainsieveDevProbed(amount=5) 1',
  ])
})

test('a rule whose webhook goes to this machine holds on when the node is started anew', { skip }, async t => {
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const first = await startAnvil({ after: fn => after(t, fn) })
  const dev = startDev(t, first.url)
  await dev.says(/Follows chain/)
  const [, url, token] = /at (http:\S+) for[\s\S]*?Token: (\S+)/.exec(dev.out())!
  const posted = await fetch(`${url}/alerting/rules/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(
      ruleOn(
        'ethereum/dev/local',
        ['Transaction', 'from', 'Equals (ignore case)', first.from],
        [webhookTo(receiver.url, 'hash')],
      ),
    ),
  })
  assert.equal(posted.status, 201, await posted.text())
  const send = async ({ send, from }: Anvil) => (await send({ to: from, value: '0x1', gas: '0x5208' })).transactionHash
  const isTold = (hash: string) => receiver.calls.some(({ body }) => body.includes(hash))
  // A rule looks at blocks from one on that comes soon.
  const sendUntilTold = async (anvil: Anvil) => {
    const sent: string[] = []
    await until(
      async () => {
        sent.push(await send(anvil))
        await pause(200)
        return sent
      },
      all => all.some(isTold),
      () => dev.out() + dev.err(),
    )
  }
  await sendUntilTold(first)
  // What it has not seen yet cannot have been was restarted.
  await dev.says(/#1 .*tx/)
  await first.stop()
  const second = await startAnvil(
    { after: fn => after(t, fn) },
    ['--timestamp', '1700000000'],
    Number(new URL(first.url).port),
  )
  await dev.says(/was restarted/)
  await sendUntilTold(second)
})
