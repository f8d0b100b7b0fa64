import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { getAddress, toEventSelector } from 'viem'
import { componentsOf } from '../../scripts/release/components.ts'
import { isRecent, packageOfNode } from '../../src/lib/own-node.ts'
import { vectorExtensionOf, version } from '../../src/lib/runtime.ts'
import { until } from '../e2e/program.ts'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { initCodeOf } from '../support/deploy.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { ended, type Place, run } from './places.ts'

/**
 * The npm package as its users have it: installed from its file by the Node and npm of the machine, and run far from the checkout, as another
 * user and with an empty environment. It needs `npm run build` first, and runs by `npm run test:executable`.
 */
const NETWORK = 'ethereum/anvil/local'
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url))

/** The Node that the machine has beside the one that npm brought to the checkout. */
const machine = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.startsWith(CHECKOUT))
const nodeFolder = machine.find(folder => existsSync(join(folder, 'node')))
/** Where `env` looks by itself, without PATH. */
const ENVIRONMENT: Record<string, string> =
  nodeFolder === undefined || ['/usr/bin', '/bin'].includes(nodeFolder) ? {} : { PATH: nodeFolder }
const NOBODY = process.getuid?.() === 0 && ENVIRONMENT.PATH === undefined ? 65_534 : undefined

const skip = nodeFolder === undefined && 'the machine has no Node of its own'
const unlessAnvil = anvilPath === undefined && 'there is no anvil for this platform'

describe('the package', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-package-'))
  const tarball = join(folder, `chainsieve-${version}.tgz`)
  const prefix = join(folder, 'prefix')
  const command = join(prefix, 'bin', 'chainsieve')
  const installed = join(prefix, 'lib', 'node_modules', 'chainsieve')
  let isOld = false
  before(async () => {
    // Others are to run what is in it.
    chmodSync(folder, 0o755)
    isOld = !isRecent((await shell(folder, 'node', ['--version'])).slice(1))
    await shell(CHECKOUT, 'npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder])
  })
  const started: ChildProcess[] = []
  after(() => {
    for (const child of started) killAll(child)
    rmSync(folder, { recursive: true, force: true })
  })

  /** An empty folder of somebody who is not root. */
  const place = (): Place => {
    const home = mkdtempSync(join(folder, 'empty-'))
    if (NOBODY !== undefined) chownSync(home, NOBODY, NOBODY)
    const by = NOBODY === undefined ? [] : ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    return {
      folder: home,
      start: (args, env = {}) => {
        const [file = '', ...rest] = [...by, command, ...args]
        const options = { cwd: home, env: { ...ENVIRONMENT, ...env }, detached: true } as const
        const child = spawn(file, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
        started.push(child)
        return child
      },
      remove: () => rmSync(home, { recursive: true, force: true }),
    }
  }

  test('is installed without a word of engines or compilers, and brings a Node, sqlite-vec, and nothing else', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'))
    // A connection that hangs is tried again before the time of the test is over.
    const network = ['--prefer-offline', '--fetch-timeout=20000', '--fetch-retries=6', '--fetch-retry-mintimeout=1000']
    // npm itself was seen to hang, too.
    const install = () => shell(empty, 'npm', ['install', '--global', '--prefix', prefix, ...network, tarball], 90_000)
    const said = await install().catch(install).catch(install)
    assert.doesNotMatch(said, /EBADENGINE|gyp|deprecated/)
    const names = JSON.parse(await shell(empty, 'npm', ['ls', '--global', '--prefix', prefix, '--all', '--json']))
    assert.deepEqual(Object.keys(names.dependencies), ['chainsieve'])
    const brought = Object.entries(names.dependencies.chainsieve.dependencies as Record<string, { version?: string }>)
    assert.deepEqual(
      brought.filter(([, { version }]) => version !== undefined).map(([name]) => name),
      [packageOfNode(), vectorExtensionOf().name],
    )
    for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs/install.md', 'docs/deploy/chainsieve.service'])
      assert.ok(existsSync(join(installed, name)), name)
  })

  test('runs from its file by npx, in a folder that is not the checkout', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'))
    // By its path from here: npx runs what has an absolute one as a script.
    const path = `../chainsieve-${version}.tgz`
    assert.equal(await shell(empty, 'npx', ['--yes', '--prefer-offline', path, '--version']), `${version}\n`)
  })

  test('indexes a node, searches, sends alerts, and goes on after kill -9', { skip: unlessAnvil }, async t => {
    const [anvil, receiver, { folder: home, ...program }] = [await startAnvil(t), await startReceiver(t), place()]
    const here = { folder: home, ...program }
    const [from, to] = await anvil.call<string[]>('eth_accounts')
    const pay = () => anvil.send({ from: from!, to: to!, value: '0x1' })
    await pay()
    const node = ['--network', NETWORK, '--rpc', anvil.url]
    const index = await run(here, ['index', ...node])
    assert.equal(index.code, 0, index.stderr)
    const found = await run(here, ['search', NETWORK, 'tx', '{"size":0}'])
    assert.equal(JSON.parse(found.stdout).hits.total, 1, found.stderr)
    const made = await run(here, ['token', 'create', '--account', 'test'])
    assert.equal(made.code, 0, made.stderr)
    const token = made.stdout.trim()

    const serving = async () => {
      const args = ['serve', '--port', '0', '--poll-interval', '50ms', '--allow-target', '127.0.0.1/32', ...node]
      const child = here.start(args)
      let said = ''
      child.stderr!.setEncoding('utf8').on('data', chunk => {
        said += chunk
      })
      const url = await until(
        () => /Serves +url=(\S+)/.exec(said)?.[1],
        Boolean,
        () => said,
      )
      const ask = async <T>(path: string, body?: unknown): Promise<T> => {
        const answer = await fetch(`${url}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        assert.ok(answer.ok, `${path}: ${answer.status}`)
        return (await answer.json()) as T
      }
      const total = async () => {
        const { hits } = await ask<{ hits: { total: number } }>(`/${NETWORK}/es/tx/search/`, { size: 0 })
        return hits.total
      }
      return { child, port: new URL(url!).port, ask, total }
    }

    const first = await serving()
    await until(first.total, total => total === 1)
    const [technology, blockchain, network] = NETWORK.split('/')
    await first.ask('/alerting/rules/', {
      ...ruleBody({ technology, blockchain, network, maxConfirmationCount: 0 }),
      config: ruleConfig({
        targetType: 'Transaction',
        targetMap: [{ name: 'from', operator: 'Equals', value: getAddress(from!) }],
        alerts: [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/hook` } }],
      }),
    })
    await pay()
    await until(
      () => receiver.calls.length,
      count => count === 1,
    )
    assert.equal((await run(here, ['health', '--port', first.port])).code, 0)
    killAll(first.child)
    await ended(first.child)
    await pay()

    const second = await serving()
    await until(second.total, total => total === 3)
    await until(
      () => receiver.calls.length,
      count => count === 2,
    )
    second.child.kill('SIGTERM')
    assert.equal(await ended(second.child), 0)
    here.remove()
  })

  for (const tool of ['Foundry', 'Hardhat'] as const)
    test(`chainsieve dev decodes by the contracts of a ${tool} project`, { skip: unlessAnvil }, async t => {
      const [anvil, here] = [await startAnvil(t), place()]
      writeProject(here.folder, tool)
      const child = here.start(['dev', '--port', '0', '--rpc', anvil.url])
      let [said, complaint] = ['', '']
      child.stdout!.setEncoding('utf8').on('data', chunk => {
        said += chunk
      })
      child.stderr!.setEncoding('utf8').on('data', chunk => {
        complaint += chunk
      })
      const says = (pattern: RegExp) =>
        until(
          () => said,
          text => pattern.test(text),
          () => complaint,
        )
      await says(new RegExp(`Decodes by the ABIs of 1 contract in .*\\(${tool}\\)`))
      await says(/Follows chain 31337/)
      await probe(anvil)
      await says(/event {2}Probe {2}Probed\(amount=7\)/)
      child.kill('SIGINT')
      assert.equal(await ended(child), 0)
      here.remove()
    })

  test('a Node that is too old starts the one that was installed, which stops with it', async t => {
    if (!isOld) return t.skip('the Node of the machine is new enough')
    const here = place()
    const server = here.start(['serve', '--port', '0'])
    const said = text(server.stdout!)
    await new Promise(resolve => server.stderr!.on('data', chunk => /Serves /.test(String(chunk)) && resolve(0)))
    const [child = 0] = childrenOf(server.pid!)
    const own = join(installed, 'node_modules', packageOfNode(), 'bin', 'node')
    assert.equal(readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')[0], 'chainsieve')
    assert.ok(readFileSync(`/proc/${child}/maps`, 'utf8').includes(own))
    server.kill('SIGKILL')
    await until(
      () => existsSync(`/proc/${child}`),
      there => !there,
    )
    assert.match(await said, /Chainsieve serves the bundled demo chain/)
    here.remove()
  })

  test('a Node that is too old, without the one that is brought, says in one line what to do', async t => {
    if (!isOld) return t.skip('the Node of the machine is new enough')
    const [brought, aside] = [join(installed, 'node_modules', packageOfNode()), join(folder, 'aside')]
    renameSync(brought, aside)
    const here = place()
    const { code, stdout, stderr } = await run(here, ['--version'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^chainsieve: Chainsieve needs Node 22\.19 or newer, this is \S+ \(\S+\), and the package \S+, which brings it, is not installed: install .*\n$/,
    )
    renameSync(aside, brought)
    here.remove()
  })
})

test('the list of components has the packages that the program is made of, and each Node', async () => {
  const { metadata, components, dependencies } = await componentsOf()
  assert.equal(metadata.component.name, 'chainsieve')
  const require = createRequire(import.meta.url)
  const { optionalDependencies } = require('../../package.json') as { optionalDependencies: Record<string, string> }
  const { packages } = require('../../package-lock.json') as { packages: Record<string, { version: string }> }
  const server = [
    '@bitauth/libauth',
    '@hono/node-server',
    '@noble/hashes',
    'better-sqlite3',
    'hash-wasm',
    'hono',
    'hyparquet',
    'hyparquet-writer',
  ]
  const names = [...server, 'minisearch', 'nodemailer', 'smol-toml', 'undici', 'valibot', '@valibot/to-json-schema']
  names.push('@modelcontextprotocol/core', '@modelcontextprotocol/server', 'zod')
  const editor = ['autocomplete', 'commands', 'lang-json', 'language', 'lint', 'state', 'streamparser', 'view']
  names.push('preact', 'uplot', ...editor.map(name => `@codemirror/${name}`))
  names.push(...['common', 'highlight', 'json', 'lr'].map(name => `@lezer/${name}`))
  const zag = ['anatomy', 'collection', 'combobox', 'core', 'dismissable', 'dom-query', 'focus-visible']
  zag.push(
    'interact-outside',
    'live-region',
    'menu',
    'popper',
    'preact',
    'rect-utils',
    'tabs',
    'tooltip',
    'types',
    'utils',
  )
  names.push(
    'lucide',
    ...zag.map(name => `@zag-js/${name}`),
    ...['core', 'dom', 'utils'].map(it => `@floating-ui/${it}`),
  )
  names.push('@marijn/find-cluster-break', 'crelt', 'style-mod', 'w3c-keyname')
  names.push('@opensearch-project/opensearch', 'debug', 'json11', 'ms', 'secure-json-parse')
  assert.deepEqual(
    components.map(component => component['bom-ref']).sort(),
    [
      ...names.map(name => `${name}@${packages[`node_modules/${name}`]!.version}`),
      ...Object.entries(optionalDependencies).map(([name, version]) => `${name}@${version}`),
    ].sort(),
  )
  assert.deepEqual(dependencies.length, components.length + 1)
})

/**
 * Runs a command of the machine, without what npm put into the environment of this process; resolves to all that it said. Whom the
 * machine trusts stays: a registry may be reached through a proxy with a certificate of its own.
 */
const shell = (cwd: string, file: string, args: string[], timeout = 0): Promise<string> =>
  new Promise((resolve, reject) => {
    const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_(?!EXTRA_CA_CERTS$)/i.test(name))
    const env = { ...Object.fromEntries(kept), PATH: machine.join(delimiter) }
    execFile(
      file,
      args,
      { cwd, env, timeout, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${file} ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`))
        else resolve(args.includes('--json') || args.includes('--version') ? stdout : stdout + stderr)
      },
    )
  })

/** With all processes that it consists of. */
const killAll = ({ pid }: ChildProcess) => {
  try {
    process.kill(-pid!, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const EVENT = 'Probed(uint256)'
/** Emits the event with the value of the call. */
const PROBE = `0x34600052${`7f${toEventSelector(EVENT).slice(2)}`}60206000a100`

const writeProject = (folder: string, tool: 'Foundry' | 'Hardhat') => {
  const abi = [{ type: 'event', name: 'Probed', inputs: [{ name: 'amount', type: 'uint256', indexed: false }] }]
  const bytecode = initCodeOf(PROBE)
  const [config, artifacts, artifact] =
    tool === 'Foundry'
      ? ['foundry.toml', 'out/Probe.sol', { abi, bytecode: { object: bytecode } }]
      : ['hardhat.config.ts', 'artifacts/contracts/Probe.sol', { contractName: 'Probe', abi, bytecode }]
  writeFileSync(join(folder, config), '')
  mkdirSync(join(folder, artifacts), { recursive: true })
  writeFileSync(join(folder, artifacts, 'Probe.json'), JSON.stringify(artifact))
}

const probe = async (anvil: Anvil) => {
  const [from] = (await anvil.call<string[]>('eth_accounts')) as [string]
  const { contractAddress } = await anvil.send({ from, data: initCodeOf(PROBE) })
  await anvil.send({ from, to: contractAddress, value: '0x7' })
}
