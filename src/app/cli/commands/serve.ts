import { isIPv6 } from 'node:net'
import type { Config } from '../../../config/index.ts'
import { countKind, duration, port, textKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import type { Finding } from '../../../doctor/finding.ts'
import { messageOf, stop } from '../../../lib/errors.ts'
import type { ReceiveNews } from '../../receive.ts'
import {
  CALL_SETTINGS,
  CLUSTER_SETTINGS,
  command,
  commandNetwork,
  misused,
  NODE_SETTINGS,
  RETENTION_SETTINGS,
  SCOPE_SETTINGS,
  SERVER_SETTINGS,
} from '../command.ts'
import { formatCount as counted, formatStatus, formatText } from '../format.ts'
import { formatDevNews } from '../format-news.ts'
import { serverOf } from '../open-rule-book.ts'

export const serveCommand = command({
  name: 'serve',
  usage: '[--network T/B/N --rpc URL] [options]',
  summary: 'Runs the server. Indexes and follows the given networks; without any network, serves a demo chain.',
  settings: [
    'role',
    ...SERVER_SETTINGS,
    ...NODE_SETTINGS.filter(name => name !== 'to'),
    ...SCOPE_SETTINGS,
    ...CLUSTER_SETTINGS,
    ...RETENTION_SETTINGS,
    'indexers',
  ],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown }) => {
    if (config.role === 'search') checkClusters(config)
    await services.serve(config, { log, shutdown })
  },
})

/** A server that only answers searches has no documents of its own. */
const checkClusters = ({ networks }: Config) => {
  if (networks.length === 0)
    throw misused('--role search: which network? Add --network T/B/N, --store opensearch and --opensearch-url URL.')
  const own = networks.find(({ cluster }) => !cluster || cluster.returning)
  if (own)
    throw misused(
      `--role search answers for documents in a cluster, and ${own.network} has none: add --store opensearch and --opensearch-url URL.`,
    )
}

export const devCommand = command({
  name: 'dev',
  usage: '[--rpc URL] [options]',
  summary:
    'Follows a local node (http://127.0.0.1:8545) for contract developers: decodes by the ABIs of the Foundry or Hardhat project in this folder, prints what happens, and serves it. Keeps no data.',
  settings: [
    ...SERVER_SETTINGS,
    ...NODE_SETTINGS.filter(name => name !== 'to' && name !== 'order' && name !== 'network'),
  ],
  defaults: {
    network: 'ethereum/dev/local',
    rpc: ['http://127.0.0.1:8545'],
    traces: 'all',
    finality: '100000',
    pollInterval: '200ms',
  },
  options: {
    verbose: setting(toggle, 'false', 'Also prints the calls inside of transactions. `-v` for short.'),
  },
  arity: [0, 0],
  run: ({ services, config, options: { verbose }, cwd, log, shutdown, streams, print }) => {
    const style = { colours: streams.stdout.isTTY === true }
    return services.dev(config, commandNetwork(config), {
      folder: cwd,
      verbose,
      report: news => print(config.json ? JSON.stringify(news) : formatDevNews(news, style)),
      log,
      shutdown,
    })
  },
})

export const replayCommand = command({
  name: 'replay',
  usage: 'HASH [--rpc URL]',
  summary:
    'Prints the calls inside of one transaction with their arguments, its events, and why and where it failed. Asks a node (http://127.0.0.1:8545), and decodes by the ABIs of the Foundry or Hardhat project in this folder and those of abi add.',
  settings: [...CALL_SETTINGS, 'limit'],
  defaults: { network: 'ethereum/dev/local', rpc: ['http://127.0.0.1:8545'] },
  options: {},
  arity: [1, 1],
  run: ({ services, config, args: [hash = ''], cwd, log, shutdown, streams, print }) => {
    if (!/^0x[\da-f]{64}$/i.test(hash))
      throw misused(
        `Which transaction? Name it by its hash, 0x and 64 hex digits, not ${JSON.stringify(hash.slice(0, 100))}.`,
      )
    const style = { colours: streams.stdout.isTTY === true }
    return services.replay(config, commandNetwork(config), hash.toLowerCase(), {
      folder: cwd,
      report: news => print(config.json ? JSON.stringify(news) : formatDevNews(news, style)),
      log,
      shutdown,
    })
  },
})

export const mcpCommand = command({
  name: 'mcp',
  usage: '[--server URL] [options]',
  summary:
    'Serves an agent (Model Context Protocol) on standard input and output: searches of the data folder, or with --server all that its token may do there.',
  settings: ['server', 'token', 'queryDeadline', 'readers', 'limit'],
  options: { text: setting(toggle, 'false', 'Sends all data as text, for clients that show models nothing else.') },
  arity: [0, 0],
  run: async ({ services, config, options: { text }, log, shutdown }) => {
    await services.agent(config, { server: serverOf(config, undefined), asText: text }, { log, shutdown })
  },
})

export const receiveCommand = command({
  name: 'receive',
  usage: '[--port PORT] [--account NAME | --secret SECRET] [--status CODE] [--delay TIME]',
  summary:
    'Receives webhooks on this machine to try alert rules with: prints what arrives, and checks its signature. The server must run with --allow-target 127.0.0.1/32.',
  settings: [],
  options: {
    port: setting(port, '8700', 'Port that the receiver listens on, at 127.0.0.1.'),
    account: setting(
      textKind('a name', 'NAME'),
      undefined,
      'Account whose secret in the data folder signs the webhooks.',
    ),
    secret: setting(textKind('a secret', 'SECRET'), undefined, 'Secret that signs the webhooks (whsec_…).'),
    status: setting(countKind(200, 599), '200', 'HTTP status to answer.'),
    delay: setting(duration, '0s', 'Time to wait before each answer.'),
  },
  arity: [0, 0],
  run: async ({ services, config, shutdown, options, print }) => {
    const { port, account, secret: given, status, delay } = options
    if (account !== undefined && given !== undefined) throw misused('Give either --account or --secret.')
    const secret = account === undefined ? given : services.openRules(config, { shutdown }).secret(account)
    await services.receive(
      {
        ...{ port, secret, status, delayMs: delay },
        report: news => print(config.json ? JSON.stringify(news) : formatReceived(news, secret !== undefined)),
      },
      { shutdown },
    )
  },
})

const formatReceived = (news: ReceiveNews, checks: boolean): string => {
  if (news.type === 'listening')
    return `Receives webhooks at ${news.url}${checks ? '' : '. Signatures are not checked: add --account or --secret'}.`
  const { method, path, headers, body, signature, fault } = news
  return [
    '',
    `${method} ${formatText(path, 2_000)}`,
    ...headers.map(([name, value]) => `${name}: ${formatText(value)}`),
    ...(signature === 'unchecked' ? [] : [`signature: ${signature}${fault === undefined ? '' : `, because ${fault}`}`]),
    ...(body === '' ? [] : [formatBody(body)]),
  ].join('\n')
}

/** Indents JSON, puts other bodies on one line, and removes terminal control characters. */
const formatBody = (body: string): string => {
  try {
    const lines = JSON.stringify(JSON.parse(body), null, 2).split('\n')
    return lines
      .map(line => line.replace(/^( *)(.*)$/u, (_, space, rest) => space + formatText(rest, 2_000)))
      .join('\n')
  } catch {
    return formatText(body, 2_000)
  }
}

export const statusCommand = command({
  name: 'status',
  usage: '',
  summary: 'Shows for each network the stored blocks, the head, and the state of its nodes.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, ...run }) => services.status(config, run),
  format: formatStatus,
})

export const healthCommand = command({
  name: 'health',
  usage: '[--ready] [options]',
  summary: 'Checks that the server at --host and --port lives. Exit code 0 if it does, 1 if not.',
  settings: ['host', 'port', 'tlsCert'],
  options: {
    ready: setting(toggle, 'false', 'Checks that the server is ready: that everything it should do is done.'),
  },
  arity: [0, 0],
  run: async ({ config, options, print }) => {
    const url = `${config.tlsCert === undefined ? 'http' : 'https'}://${reachable(config.host)}:${config.port}/${options.ready ? 'ready' : 'health'}`
    const { status, body } = await ask(url).catch(error => {
      throw stop('no_answer', `${url} does not answer: ${messageOf(error)}`)
    })
    print(body)
    if (status !== 200) throw stop('unwell', `${url} answers ${status}`)
  },
})

/** Replaces a wildcard listen address by the loopback address. */
const reachable = (host: string): string => {
  const one = new Map([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
  ])
  const address = one.get(host) ?? host
  return isIPv6(address) ? `[${address}]` : address
}

/**
 * Uses node:http, which loads faster than the RPC client. The certificate is not verified, since it
 * does not name this machine; no secret is sent.
 */
const ask = async (url: string): Promise<{ status: number | undefined; body: string }> => {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  const options = { agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) } as const
  return new Promise((resolve, reject) => {
    const asked = request(url, options, async answer => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        resolve({ status: answer.statusCode, body: Buffer.concat(chunks).toString() })
      } catch (error) {
        reject(error)
      }
    })
    asked.on('error', reject).end()
  })
}

/** A busy server answers within one second. */
const HEALTH_TIMEOUT_MS = 5_000

export const doctorCommand = command({
  name: 'doctor',
  usage: '[options]',
  summary:
    'Checks nodes, stored data, clusters, clock, mail server, webhooks, disk and file modes, and says what to do. Sends no alerts.',
  settings: [...NODE_SETTINGS, ...CLUSTER_SETTINGS, ...SERVER_SETTINGS],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, print }) => {
    const findings: Finding[] = []
    for await (const finding of services.diagnose(config, { log, shutdown })) {
      findings.push(finding)
      if (!config.json) print(formatFinding(finding))
    }
    const failed = findings.filter(({ state }) => state === 'fail').length
    const warned = findings.filter(({ state }) => state === 'warn').length
    if (config.json) print(JSON.stringify({ ok: failed === 0, findings }))
    else print(`\n${counted(findings.length, 'check')}: ${failed} failed, ${counted(warned, 'warning')}.`)
    return failed > 0 ? 1 : 0
  },
})

const formatFinding = ({ check, subject, state, found, remedy }: Finding): string => {
  const line = `${state.padEnd(4)}  ${check.padEnd(7)}  ${formatText(subject)}: ${formatText(found, 400)}.`
  return remedy === undefined ? line : `${line}\n                 ${remedy}`
}
