import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '../../src/config/index.ts'
import { chainsieve, folder } from './support.ts'

const wrong = (message: string, command = 'chainsieve') => ({
  code: 2,
  out: '',
  err: `chainsieve: ${message}\n${command} --help tells how it is used.\n`,
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
    ['token', wrong('chainsieve token what? One of create, list, revoke.')],
    ['token craete', wrong('There is no command token craete. Did you mean "create"?')],
    ['serve --prot 1', wrong('There is no option --prot. Did you mean "--port"?')],
    ['serve -x', wrong('There is no option -x.')],
    ['serve --port', wrong('--port needs a value.')],
    ['serve --rpc --ws ws://x', wrong('--rpc needs a value.')],
    ['serve --port 1 --port 2', wrong('--port is given twice.')],
    ['serve extra', wrong('"extra" is one argument too many for chainsieve serve.')],
    ['status --port 1', wrong('chainsieve status takes no --port.')],
    ['import --network a/b/c', wrong('An argument is missing: chainsieve import --network T/B/N FILE…')],
    ['token revoke', wrong('An argument is missing: chainsieve token revoke ID')],
    ['search a/b/c', wrong('An argument is missing: chainsieve search T/B/N ENTITY[,ENTITY] [JSON|-]')],
    [
      'serve --port http',
      { code: 2, out: '', err: 'chainsieve: --port takes a port from 0 (any free one) to 65535, not "http".\n' },
    ],
    ['serve --json=maybe', { code: 2, out: '', err: 'chainsieve: --json takes true or false, not "maybe".\n' }],
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
    err: 'chainsieve: Environment variable CHAINSIEVE_HSOT is no setting. Did you mean "CHAINSIEVE_HOST"?\n',
  })
})

test('the version is printed alone', async () => {
  for (const flag of ['--version', '-v'])
    assert.deepEqual(await chainsieve([flag]), { code: 0, out: '1.2.3\n', err: '' })
})

test('help tells of all commands', async () => {
  const { out } = await chainsieve(['--help'])
  assert.equal(
    out,
    `Chainsieve 1.2.3: search for EVM chains.

Usage: chainsieve COMMAND [arguments] [options]

Commands:
  serve             Runs the server, and indexes and follows the networks that it is given; with none at all it serves a demo chain.
  dev               For developers of contracts: follows a local node (http://127.0.0.1:8545), decodes by the ABIs of the Foundry or Hardhat project in this folder, prints what happens and serves it; keeps nothing.
  index             Indexes a range of blocks, then exits; asked again, it goes on where it stopped.
  import            Reads blocks from block packs: NDJSON, plain or .gz, one {"chainId","block","receipts"} a line.
  search            Asks the same query as POST …/es/<entity>/search/; - reads it from standard input.
  status            Tells of each network which blocks are held, how far the head is, and how its nodes are.
  health            Asks the server at --host and --port whether it lives. Exit code 0 if it does, 1 if not.
  verify            Reads all that is stored and tells whether it is as it was written; exits with 1 where it is not.
  rules list        Shows alert rules, those of all accounts, and how often each has fired.
  rules check       Checks alert rules in JSON files as the server would, one or a list of them in each; - reads standard input.
  rules simulate    Tells how often a rule would have fired in the blocks that are stored, and shows the newest hits; sends nothing.
  rules deliveries  Shows what was sent, waits or was given up, the newest first.
  rules redeliver   Sends deliveries again: those that fulfil all that is given, of which there must be something.
  rules secret      Prints the secret by which an account's webhooks are signed, and nothing else.
  token create      Makes a token and prints it, and nothing else; it cannot be shown again.
  token list        Shows the tokens there are, not the tokens themselves.
  token revoke      Makes a token invalid for good, within a second also in a running server.
  abi add           Takes ABIs to decode by: JSON, artifacts of Foundry and Hardhat, metadata of Sourcify, signatures, lists of 4byte and OpenChain.
  abi list          Shows the ABIs that were given.
  abi remove        Takes back all ABIs of that name, or those of one network, contract or code; what is stored stays decoded.

chainsieve COMMAND --help tells of the options of a command, all of which can be set by environment variables and in a
config file, too. Exit codes: 0 done, 1 failed, 2 used wrongly.
`,
  )
  for (const argv of [['-h'], ['help'], ['help', 'token'], ['token', '--help']])
    assert.deepEqual(await chainsieve(argv), { code: 0, out, err: '' }, argv.join(' '))
})

test('help on a command tells of its options, from the table of settings', async () => {
  const { out } = await chainsieve(['token', 'create', '--help'])
  assert.equal(
    out,
    `Usage: chainsieve token create --account NAME [--expires TIME]

Makes a token and prints it, and nothing else; it cannot be shown again.

Options:
  --account NAME  The account that the token is for; it is made where it does not exist.
  --expires TIME  How long the token is valid, such as 30d; by default until it is revoked.
  --data DIR      Folder that holds everything that is stored. Default: ./chainsieve-data. [CHAINSIEVE_DATA]
  --config FILE   Config file (TOML). Without it, chainsieve.toml in the data folder is read where there is one. [CHAINSIEVE_CONFIG]
  --json          Logs and results as JSON lines, for machines. [CHAINSIEVE_JSON]
  --help          Shows this.
`,
  )
  const index = (await chainsieve(['help', 'index'])).out
  assert.match(index, /^ {2}--rpc URL +A node's JSON-RPC endpoint.* May be repeated\. \[CHAINSIEVE_RPC\]$/m)
  assert.match(index, /^ {2}--finality N +.* Default: 64\. \[CHAINSIEVE_FINALITY\]$/m)
  assert.doesNotMatch(index, /--port/)
})
