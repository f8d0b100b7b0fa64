import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SCOPES } from '../accounts/index.ts'
import { depthOfChain } from '../config/chains.ts'
import { type BlockPoint, type Config, type NetworkConfig, nodeOptions } from '../config/index.ts'
import { allowancesOf } from '../config/kinds.ts'
import { abiFolder, readOwnAbis } from '../ingest/decoding/abi-files.ts'
import { askNode, type NodeState } from '../ingest/dev-node.ts'
import { type Indexing, keepIndexing, prepareStore } from '../ingest/network.ts'
import { replayTransaction } from '../ingest/replay.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Log, LogFields } from '../lib/log.ts'
import { type Run, surviveFaults } from '../lib/shutdown.ts'
import { createChainNews, type DevOptions } from './chain-news.ts'
import { type Artifact, artifactsState, createNaming, findProjects, readArtifacts, replaceAbis } from './project.ts'

const LOOPBACK_RANGES = ['127.0.0.0/8', '::1/128']
/** Time between two looks at the store and at the project. */
const DEV_POLL_MS = 100
/** Time between two looks at which chain the node has. */
const NODE_MS = 2_000
/** Longest wait for each answer to why a transaction failed. */
const EXPLAIN_MS = 3_000

const UNTRACED =
  'The node has no traces: inner calls are not known, and reasons for failures come from eth_call on the state before the block.'

const PRINTED_BLOCKS = 10
/** If the chain is longer, only its newest blocks are indexed unless the user asks for more. */
const LONG_CHAIN = 10_000
const NEWEST_BLOCKS = 1_000

/** Follows a node for development with a data folder that lives no longer than this. */
export const serveDev = async (config: Config, network: NetworkConfig, run: Run & DevOptions) => {
  const { folder, report, shutdown } = run
  const { signal } = shutdown
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-dev-'))
  shutdown.add('temporary folder', () => rmSync(data, { recursive: true, force: true, maxRetries: 3 }))
  const own: Config = { ...config, data, networks: [network], allowTarget: [...config.allowTarget, ...LOOPBACK_RANGES] }
  /** The last warning of the indexing: if the node is gone, only that is printed, once. */
  let complaint: (() => void) | undefined
  const log: Log = {
    ...run.log,
    // A developer wants to read about the chain, not about the program.
    info: (message, fields) => config.json && run.log.info(message, fields),
    warn(message, fields) {
      if (!config.json && isPrintedOtherwise(message, fields)) return
      const warn = () => run.log.warn(message, fields)
      if (fields?.endpoint === undefined) warn()
      else complaint = warn
    },
    with: () => log,
  }

  shutdown.add('last resort', surviveFaults(log))
  const project = followProject(folder, abiFolder(data), report)
  prepareStore(data, network.network, log)
  const indexings: Indexing[] = []
  const server = await run.serve(own, indexings, { log, shutdown })
  report({
    type: 'serving',
    url: server.url,
    console: own.noConsole ? null : `${server.url}/console/`,
    network: network.network,
    token: server.accounts.createToken('dev', { scopes: SCOPES }),
  })
  project.look()

  const explain = async (hash: string) => {
    try {
      const { txs } = await replayTransaction({
        urls: network.rpc.map(it => it.reveal()),
        allowances: allowancesOf(network),
        ...{ data, network: network.network, log, hash },
        own: readOwnAbis(abiFolder(data), network.network),
        ...{ codes: false, timeoutMs: EXPLAIN_MS, limits: own.limits, signal },
      })
      return txs[0]
    } catch (error) {
      // The node may have stopped, or dropped the transaction.
      if (signal.aborted || !(error instanceof ChainsieveError)) throw error
      return undefined
    }
  }
  const news = createChainNews({
    pool: server.pool,
    network: network.network,
    nameOf: project.nameOf,
    verbose: run.verbose,
    explain,
    signal,
  })
  const url = network.rpc[0]!
  const start = (from: BlockPoint, announces: boolean) => {
    const job = {
      type: 'follow' as const,
      node: { ...nodeOptions(network), ...(announces && !network.ws && announcer(url.reveal())), shrinks: true },
      from,
      order: network.order,
      ...depthOfChain(network.network, network.finality),
      followed: [network.network],
    }
    const { storeBatch } = network
    const onAlerts = () => server.delivery.wake(network.network)
    indexings[0] = keepIndexing({ data, network: network.network, job, storeBatch, limits: own.limits, log, onAlerts })
  }

  let waiting = false
  let node: NodeState | undefined
  /** Starts indexing when the node is reachable, and restarts it if the node has another chain. */
  const lookAtNode = async () => {
    const found = await askNode(url.reveal(), node, signal)
    if (signal.aborted) return
    if ('why' in found) {
      if (!waiting) report({ type: 'waiting', node: String(url), why: found.why })
      waiting = true
      complaint = undefined
      return
    }
    if (waiting && found === node) report({ type: 'back', node: String(url) })
    waiting = false
    complaint?.()
    complaint = undefined
    if (found === node) return
    await indexings[0]?.stop()
    const { chainId, head, fork, announces } = found
    const from = firstDevBlock(network.from, found)
    node = found
    news.skipTo(head - PRINTED_BLOCKS + 1)
    report({ type: 'node', node: String(url), chainId, head, from, fork })
    start({ block: from }, announces)
  }

  /** If a check fails, the next one catches up. */
  const passing = (error: unknown): [] => {
    if (signal.aborted || (error instanceof ChainsieveError && error.next === 'retry')) return []
    throw error
  }

  let wasTraced = true
  let nodeAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    const begun = performance.now()
    if (begun - nodeAt >= NODE_MS || (complaint && !waiting)) {
      await lookAtNode()
      nodeAt = begun
    }
    project.look()
    const error = indexings[0]?.error()
    if (error && !signal.aborted) throw error
    const isTraced = network.traces === 'off' || (indexings[0]?.report().withoutTraces ?? null) === null
    if (!isTraced && wasTraced) report({ type: 'untraced', why: UNTRACED })
    wasTraced = isTraced
    for (const item of await news.look().catch(passing)) report(item)
    // A large project takes longer to check: it must not keep a whole core busy.
    const taken = performance.now() - begun
    await sleep(Math.max(DEV_POLL_MS, taken * 3), undefined, { signal }).catch(() => {})
  }
}

/** Whether other lines report the same as a warning. */
const isPrintedOtherwise = (message: string, fields: LogFields | undefined): boolean =>
  message === 'Continues without traces: no node has them' ||
  (message === 'Is not ready' && fields?.type === 'nodes_failing')

const announcer = (url: string) => (/^https?:/.test(url) ? { wsUrl: url.replace(/^http/, 'ws') } : {})

/** A fork's own blocks and the one before them; of a long chain the newest. */
const firstDevBlock = (from: BlockPoint | undefined, { head, fork }: NodeState): number => {
  if (from !== undefined) return 'block' in from ? from.block : Math.max(0, head - from.latest)
  if (fork !== null) return Math.min(head, fork + 1)
  return head > LONG_CHAIN ? head - NEWEST_BLOCKS : 0
}

/** Loads the artifacts of a project's compiler and watches for changes. */
const followProject = (folder: string, abis: string, report: DevOptions['report']) => {
  const projects = findProjects(folder)
  let state: string | undefined
  let last: string | undefined
  let nameOf = createNaming([])
  let reported = new Set<string>()

  return {
    nameOf: (input: string) => nameOf(input),
    look() {
      const now = projects.map(({ artifacts }) => artifactsState(artifacts)).join('\n')
      if (now === state) return
      const again = state !== undefined
      // The compiler may still be writing.
      const settled = now === last
      last = now
      if (again && !settled) return
      state = now
      const found = projects.map(({ artifacts }) => readArtifacts(artifacts))
      const artifacts: Artifact[] = found.flatMap(it => it.artifacts)
      // A clean build has no artifacts for a while: keep the old ones for the deployed contracts.
      if (artifacts.length === 0 && again) return
      const broken = [...found.flatMap(it => it.broken), ...replaceAbis(abis, artifacts)]
      nameOf = createNaming(artifacts)
      report({ type: 'artifacts', projects, contracts: artifacts.length, again })
      for (const { file, why } of broken) if (!reported.has(file)) report({ type: 'broken', file, why })
      reported = new Set(broken.map(({ file }) => file))
    },
  }
}
