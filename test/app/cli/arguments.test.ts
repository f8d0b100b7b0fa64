import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/app/cli/commands/index.ts'
import type { Config } from '../../../src/config/index.ts'
import { chainsieve, folder } from './support.ts'

const wrong = (message: string, command = 'chainsieve') => ({
  code: 2,
  out: '',
  err: `chainsieve: ${message}\n${command} --help shows how to use it.\n`,
})

/** The configuration that `serve` was called with. */
const configured = async (argv: string[], env: Record<string, string> = {}): Promise<Config> => {
  let seen: Config | undefined
  const done = await chainsieve(['serve', ...argv], {
    env,
    serve: async config => {
      seen = config
    },
  })
  assert.deepEqual(done, { code: 0, out: '', err: '' })
  return seen!
}

test('short names of chains stand for networks in commands, too', async () => {
  const seen: (string | undefined)[] = []
  const verify = async (_: Config, network: string | undefined) => {
    seen.push(network)
    return []
  }
  for (const name of [['base'], ['a/b/c'], []]) await chainsieve(['verify', ...name], { verify })
  assert.deepEqual(seen, ['ethereum/base/mainnet', 'a/b/c', undefined])
})

test('flags, environment and defaults reach the command', async () => {
  const argv = [
    '--network',
    'a/b/c',
    '--rpc=http://x',
    '--rpc',
    'http://y',
    '--json',
    '--data',
    'store',
    '--from',
    'latest-5',
  ]
  const config = await configured(argv, { CHAINSIEVE_PORT: '99' })
  assert.deepEqual(
    {
      ...{ json: config.json, port: config.port, host: config.host, data: config.data, network: config.network },
      ...{ rpc: config.networks[0]?.rpc.map(url => url.reveal()), from: config.networks[0]?.from },
    },
    {
      ...{ json: true, port: 99, host: '127.0.0.1', data: `${folder}/store`, network: 'a/b/c' },
      ...{ rpc: ['http://x', 'http://y'], from: { latest: 5 } },
    },
  )
  assert.equal((await configured(['--json=false'], { CHAINSIEVE_JSON: '1' })).json, false)
  assert.equal((await configured([], { CHAINSIEVE_JSON: '1' })).json, true)
})

test('options may stand before the command', async () => {
  const done = await chainsieve(['--data', 'early', 'serve'], {
    serve: async ({ data }) => assert.equal(data, `${folder}/early`),
  })
  assert.deepEqual(done, { code: 0, out: '', err: '' })
})

test('what was typed wrongly is told with what was meant, and exits with 2', async () => {
  const cases: [string, ReturnType<typeof wrong>][] = [
    ['', wrong('Which command?')],
    ['sevre', wrong('There is no command sevre. Did you mean "serve"?')],
    ['unicorn', wrong('There is no command unicorn.')],
    ['token', wrong('chainsieve token what? One of create, list, rotate, limit, revoke.')],
    ['token craete', wrong('There is no command token craete. Did you mean "create"?')],
    ['serve --prot 1', wrong('There is no option --prot. Did you mean "--port"?', 'chainsieve serve')],
    ['serve -x', wrong('There is no option -x.', 'chainsieve serve')],
    ['serve --port', wrong('--port needs a value.', 'chainsieve serve')],
    ['serve --rpc --ws ws://x', wrong('--rpc needs a value.', 'chainsieve serve')],
    ['serve --port 1 --port 2', wrong('--port is given twice.', 'chainsieve serve')],
    ['serve extra', wrong('"extra" is one argument too many for chainsieve serve.', 'chainsieve serve')],
    ['status --port 1', wrong('chainsieve status takes no --port.', 'chainsieve status')],
    [
      'import --network a/b/c',
      wrong('An argument is missing: chainsieve import --network T/B/N FILE|FOLDER…', 'chainsieve import'),
    ],
    ['token revoke', wrong('An argument is missing: chainsieve token revoke ID', 'chainsieve token revoke')],
    [
      'search a/b/c',
      wrong('An argument is missing: chainsieve search T/B/N ENTITY[,ENTITY] [JSON|-]', 'chainsieve search'),
    ],
    [
      'serve --port http',
      { code: 2, out: '', err: 'chainsieve: --port takes a port from 0 (any free one) to 65535, not "http".\n' },
    ],
    ['serve --json=maybe', { code: 2, out: '', err: 'chainsieve: --json takes true or false, not "maybe".\n' }],
    [
      'token create --scopes search',
      wrong('chainsieve token create takes no --scopes. Did you mean "--scope"?', 'chainsieve token create'),
    ],
    ['token create', wrong('Whose token? Add --account NAME.', 'chainsieve token create')],
    ['index', wrong('Which network? Add --network T/B/N.', 'chainsieve index')],
    ['index --network a/b/c', wrong('Where is a node of a/b/c? Add --rpc URL.', 'chainsieve index')],
    ['import x.ndjson', wrong('Which network? Add --network T/B/N.', 'chainsieve import')],
  ]
  for (const [line, expected] of cases)
    assert.deepEqual(await chainsieve(line.split(' ').filter(word => word !== '')), expected, line)
})

test('a bad environment is told with the variable', async () => {
  assert.deepEqual(await chainsieve(['serve'], { env: { CHAINSIEVE_HSOT: 'x' } }), {
    code: 2,
    out: '',
    err: 'chainsieve: Environment variable CHAINSIEVE_HSOT is not a setting. Did you mean "CHAINSIEVE_HOST"?\n',
  })
})

test('the version is printed alone', async () => {
  for (const flag of ['--version', '-v'])
    assert.deepEqual(await chainsieve([flag]), { code: 0, out: '1.2.3\n', err: '' })
})

test('help tells of all commands', async () => {
  const { out } = await chainsieve(['--help'])
  const [head, ...rest] = out.split('\n\n')
  assert.equal(head, 'Chainsieve 1.2.3: search and alerts for EVM chains.')
  assert.equal(rest[0], 'Usage: chainsieve COMMAND [arguments] [options]')
  const [first] = rest[1]!.split('\n  ')
  assert.equal(first, 'Collect blocks:')
  for (const { name, summary } of COMMANDS) assert.ok(out.includes(`\n  ${name.padEnd(16)}  ${summary}\n`), name)
  assert.equal(
    rest.at(-1),
    'chainsieve COMMAND --help lists the options of a command. Environment variables and a config file can set them, too.\nExit codes: 0 done, 1 failed, 2 wrong usage.\n',
  )
  for (const argv of [['-h'], ['help'], ['help', 'token'], ['token', '--help']])
    assert.deepEqual(await chainsieve(argv), { code: 0, out, err: '' }, argv.join(' '))
})

test('help on a command tells of its options, from the table of settings', async () => {
  const { out } = await chainsieve(['token', 'create', '--help'])
  assert.equal(
    out,
    `Usage: chainsieve token create --account NAME [--scope SCOPE]… [--expires TIME] [--rate N]

Creates a token and prints it, and nothing else. It cannot be shown again.

Options:
  --account NAME              Account of the token. It is created if it does not exist.
  --expires TIME              How long the token is valid, such as 30d. The default is until you revoke it.
  --scope search|rules|admin  What the token may be used for: to search, to manage rules, to read metrics. The default is search and rules. May be repeated.
  --rate N                    Requests a minute with this token. The default is --limit requestsByToken.
  --data DIR                  Folder that holds all stored data. Default: ./chainsieve-data. [CHAINSIEVE_DATA]
  --config FILE               Config file (TOML). The default is chainsieve.toml in the data folder, if it exists. [CHAINSIEVE_CONFIG]
  --json                      Print logs and results as JSON lines. [CHAINSIEVE_JSON]
  --help                      Shows this help.
`,
  )
  const index = (await chainsieve(['help', 'index'])).out
  assert.match(index, /^ {2}--rpc URL +JSON-RPC endpoint of a node.* May be repeated\. \[CHAINSIEVE_RPC\]$/m)
  assert.match(index, /^ {2}--finality N\|finalized +.* Default: 64\. \[CHAINSIEVE_FINALITY\]$/m)
  assert.doesNotMatch(index, /--port/)
})
