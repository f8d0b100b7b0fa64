import type { RawBlock } from '../../chain/wire.ts'
import type { Linked, LinksOf } from '../../decode/declarations.ts'
import type { Delegation, Target } from '../../decode/proxies.ts'
import type { BlockContract } from '../../documents/contracts.ts'
import { type CodeUpgrade, upgradesIn } from '../../documents/upgrades.ts'
import type { LearntLink } from '../../engine/documents/derived-rows.ts'
import type { Lookups, StoredLink, StoredUpgrade } from '../../engine/port.ts'
import { blockOf, positionOf } from '../../engine/schema.ts'
import { createRecentCache } from '../../lib/caches.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createLinkInquiry, type LinkInquiryOptions } from './ask-proxies.ts'
import { createNodeLookup } from './node-lookup.ts'
import type { Similarity } from './similar-abi.ts'

export type ProxyResolver = ReturnType<typeof createProxyResolver>

export interface ProxyResolverOptions extends LinkInquiryOptions {
  stored: Pick<Lookups, 'link' | 'upgrades'>
  keys(): ReadonlySet<string>
  /** Addresses and code hashes that have an ABI. */
  holders(): readonly string[]
  likeness: Pick<Similarity, 'compareWith' | 'nearest'>
  created(raw: RawBlock): readonly BlockContract[]
  log: Log
  now?: () => number
  clock?: Clock
}

/** Contracts per call: their codes have up to 24 KB. */
const PROXIES_PER_CALL = 20
const MAX_PROXY_STEPS = 3
/** Position of answers from an abandoned branch. */
const OUTDATED = -1
const LINKS_PER_GENERATION = 100_000

const createLinkGraph = (stored: ProxyResolverOptions['stored']) => {
  const known = createRecentCache<StoredLink | null>(LINKS_PER_GENERATION)
  const histories = createRecentCache<UpgradeHistory>(LINKS_PER_GENERATION)
  let learnt: LearntLink[] = []

  const find = (address: string): StoredLink | null => {
    let link = known.get(address)
    if (link === undefined) {
      link = stored.link(address) ?? null
      known.set(address, link)
    }
    return link
  }

  const historyOf = (address: string): UpgradeHistory => {
    let history = histories.get(address)
    if (!history) {
      history = createUpgradeHistory(stored.upgrades(address))
      histories.set(address, history)
    }
    return history
  }

  /** Logs date a change; before the first known one, the current answer has to do. */
  const currentOf = (address: string, { delegation, position }: StoredLink, at: number): readonly Target[] => {
    const upgrade = historyOf(address).named(at)
    if (!upgrade || (position <= at && position > upgrade.position)) return delegation!.targets
    return [{ address: upgrade.implementation! }]
  }

  const targetsOf = (address: string, at: number): readonly Target[] => {
    const link = find(address)
    switch (link?.delegation?.kind) {
      case undefined: {
        // A proxy without an answer may have emitted a log about it.
        const implementation = link ? null : historyOf(address).named(at)?.implementation
        return implementation ? [{ address: implementation }] : []
      }
      case 'offer':
        return []
      case 'upgradeable':
        return currentOf(address, link!, at)
      case 'beacon': {
        const beacon = link!.delegation!.targets[0]?.address
        const offer = beacon === undefined ? null : find(beacon)
        return offer?.delegation?.kind === 'offer' ? currentOf(beacon!, offer, at) : []
      }
      default:
        return link!.delegation!.targets
    }
  }

  const followed = (address: string, at = Number.POSITIVE_INFINITY, selector?: string): Linked[] => {
    const found: Linked[] = []
    const visit = (contract: string, steps: number) => {
      if (found.some(it => it.address === contract)) return
      found.push({ address: contract, codeHash: find(contract)?.codeHash ?? null })
      if (steps === MAX_PROXY_STEPS) return
      for (const target of targetsOf(contract, at))
        if (selector === undefined || (target.selectors?.includes(selector) ?? true)) visit(target.address, steps + 1)
    }
    visit(address.toLowerCase(), 0)
    return found
  }

  const remember = (address: string, link: StoredLink) => {
    known.set(address, link)
    learnt.push({ address, ...link })
  }

  const isOpen = (address: string, from: number, to: number): boolean => {
    const link = find(address)
    if (!link || link.position === OUTDATED) return true
    // The account may have code by now.
    if (link.codeHash === null && link.position < from) return true
    const { kind, targets } = link.delegation ?? {}
    if (kind === 'beacon' && targets?.[0] && find(targets[0].address)?.delegation?.kind !== 'offer') return true
    const told = historyOf(address).unnamed(to)
    return told !== undefined && told.position > link.position
  }

  const nextOf = (address: string, from: number, to: number): string[] => {
    const { kind, targets = [] } = find(address)?.delegation ?? {}
    const changing = kind === 'beacon' ? targets[0]?.address : address
    const within = changing === undefined ? [] : historyOf(changing).within(from, to)
    return [
      ...[...targetsOf(address, from), ...targetsOf(address, to)].map(target => target.address),
      ...(kind === 'beacon' || kind === 'upgradeable' ? within : []),
    ]
  }

  return {
    ...{ find, historyOf, targetsOf, followed, remember, isOpen, nextOf },
    takeLearnt() {
      const taken = learnt
      learnt = []
      return taken
    },
    forget(from: number) {
      // Blocks of a back-fill use earlier answers until the next request.
      for (const [address, link] of known.entries())
        if (link && link.position >= from) known.set(address, { ...link, position: OUTDATED })
      if (from <= 0) known.clear()
      learnt = learnt.filter(({ position }) => position < from)
      for (const [, history] of histories.entries()) history.forget(from)
    },
  }
}

/** Resolves codes of contracts and targets of proxies from the store, logs and the chain. */
export const createProxyResolver = (options: ProxyResolverOptions) => {
  const { stored, keys, holders, likeness, created, log, now, clock } = options
  const graph = createLinkGraph(stored)
  const { find, historyOf, targetsOf, followed, remember, isOpen, nextOf } = graph
  const askLinks = createLinkInquiry(options)
  let reached = -1
  /** Increments when blocks are removed: earlier answers may be of another chain. */
  let epoch = 0

  const of: LinksOf = (address, at, selector) => {
    const found = followed(address, at, selector)
    const likes = found.flatMap(({ codeHash }) => (codeHash === null ? [] : (likeness.nearest(codeHash) ?? [])))
    for (const { holder, similarity } of likes)
      if (!found.some(it => it.address === holder || it.codeHash === holder))
        found.push({ ...heldBy(holder), likeness: similarity })
    return found
  }

  const ask = async (addresses: readonly string[], signal: AbortSignal): Promise<void> => {
    const [position, asked] = [positionOf(reached + 1, 0) - 1, epoch]
    const beacons = addresses.filter(address => find(address)?.delegation?.kind === 'offer')
    const answers = await askLinks!(addresses, beacons, signal)
    if (epoch !== asked) return ask(addresses, signal)
    for (const [address, link] of answers) remember(address, { ...link, position })
  }
  const lookup = createNodeLookup({ ask, most: PROXIES_PER_CALL, what: 'for the targets of proxies', log, now, clock })

  const noteCreated = (blocks: readonly RawBlock[]) => {
    for (const raw of blocks)
      for (const [place, { address, code }] of created(raw).entries()) {
        const target = code?.proxy?.target
        if (!code || (code.proxy && !target)) continue
        const delegation: Delegation | null = target ? { kind: 'fixed', targets: [{ address: target }] } : null
        const position = positionOf(Number(raw.block.number), place)
        remember(address.toLowerCase(), { codeHash: code.hash, delegation, position })
      }
  }

  /** An ABI of a proxy can only be one of the code that it runs. */
  const compareCodes = () => {
    const codes = new Map<string, string>()
    for (const holder of holders()) {
      const runs = isAddressHolder(holder) ? followed(holder).at(-1) : { codeHash: holder }
      if (runs?.codeHash && !codes.has(runs.codeHash)) codes.set(runs.codeHash, holder)
    }
    likeness.compareWith(codes)
  }

  const rangeOf = (first: RawBlock, last = first): [from: number, to: number] => [
    positionOf(Number(first.block.number), 0),
    positionOf(Number(last.block.number) + 1, 0),
  ]

  const concernedOf = (blocks: readonly RawBlock[]): string[] => [
    ...holders().filter(isAddressHolder),
    ...blocks.flatMap(raw => [...concernedIn(raw, keys(), created(raw))]),
  ]

  const openIn = (raw: RawBlock): string[] => {
    if (!askLinks || keys().size === 0) return []
    const [from, to] = rangeOf(raw)
    const concerned = new Set(concernedOf([raw]))
    let last = [...concerned]
    for (let step = 0; step < MAX_PROXY_STEPS; step++) {
      last = last.flatMap(address => nextOf(address, from, to)).filter(address => !concerned.has(address))
      for (const address of last) concerned.add(address)
    }
    return [...concerned].filter(address => isOpen(address, from, to))
  }

  const knowWithin = async (addresses: Iterable<string>, from: number, to: number, signal: AbortSignal) => {
    const seen = new Set<string>()
    let open = new Set(addresses)
    for (let step = 0; step <= MAX_PROXY_STEPS && open.size > 0; step++) {
      for (const address of open) seen.add(address)
      await lookup.prefetch(
        [...open].filter(address => isOpen(address, from, to)),
        signal,
      )
      open = new Set([...open].flatMap(address => nextOf(address, from, to)).filter(address => !seen.has(address)))
    }
  }

  const note = (number: number, upgrades: readonly CodeUpgrade[]) => {
    for (const { address, place, implementation } of upgrades)
      historyOf(address).add({ position: positionOf(number, place), implementation })
    reached = Math.max(reached, number)
  }

  return {
    of,
    note,
    /** The only contract that a proxy delegates to; null for several, none or unknown. */
    implementationOf(address: string, at: number) {
      const [target, ...others] = targetsOf(address.toLowerCase(), at)
      return target && others.length === 0 ? target.address : null
    },
    /** Notes upgrades and asks unanswered contracts. `head`: highest known block. */
    async prefetch(blocks: readonly RawBlock[], head: number, signal: AbortSignal) {
      const [first, last] = [blocks.at(0), blocks.at(-1)]
      if (!first || !last) return
      for (const raw of blocks) note(Number(raw.block.number), upgradesIn(raw))
      reached = Math.max(reached, head)
      if (keys().size === 0) return
      noteCreated(blocks)
      compareCodes()
      if (!askLinks) return
      const [from, to] = rangeOf(first, last)
      await knowWithin(concernedOf(blocks), from, to, signal)
      compareCodes()
    },
    isOpen: (raw: RawBlock) => openIn(raw).length > 0,
    async require(raw: RawBlock, signal: AbortSignal) {
      reached = Math.max(reached, Number(raw.block.number))
      await lookup.require(openIn(raw), signal)
      compareCodes()
    },
    async know(addresses: readonly string[], head: number, signal: AbortSignal) {
      reached = Math.max(reached, head)
      if (askLinks) await knowWithin(addresses, 0, Number.MAX_SAFE_INTEGER, signal)
      compareCodes()
    },
    takeLearnt: graph.takeLearnt,
    forget(from: number) {
      epoch++
      reached = Math.min(reached, blockOf(from) - 1)
      graph.forget(from)
    },
  }
}

/** Hashes are longer. */
const isAddressHolder = (holder: string): boolean => holder.length === 42

const heldBy = (holder: string): Linked =>
  isAddressHolder(holder) ? { address: holder, codeHash: null } : { address: '', codeHash: holder }

/** Contracts with logs or calls that single-contract ABIs declare, and new proxies. */
const concernedIn = (
  { block, receipts, traces = [] }: RawBlock,
  keys: ReadonlySet<string>,
  created: readonly BlockContract[],
): Set<string> => {
  const found = new Set<string>()
  for (const { logs } of receipts)
    for (const { address, topics } of logs)
      if (keys.has(topics[0]?.toLowerCase() ?? '')) found.add(address.toLowerCase())
  const called = (to: string, input: string) => {
    if (keys.has(input.slice(0, 10).toLowerCase())) found.add(to.toLowerCase())
  }
  for (const { to, input } of block.transactions) if (to) called(to, input)
  for (const trace of traces) if (trace.type === 'call') called(trace.action.to, trace.action.input)
  for (const { address, code } of created) if (code?.proxy) found.add(address.toLowerCase())
  return found
}

type UpgradeHistory = ReturnType<typeof createUpgradeHistory>

const createUpgradeHistory = (stored: readonly StoredUpgrade[]) => {
  const named: StoredUpgrade[] = []
  const unnamed: StoredUpgrade[] = []
  const listOf = ({ implementation }: StoredUpgrade) => (implementation === null ? unnamed : named)
  const before = (list: readonly StoredUpgrade[], at: number): number => {
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (list[middle]!.position < at) low = middle + 1
      else high = middle
    }
    return low
  }
  const history = {
    add(upgrade: StoredUpgrade) {
      const list = listOf(upgrade)
      const place = before(list, upgrade.position)
      if (list[place]?.position !== upgrade.position) list.splice(place, 0, upgrade)
    },
    named: (at: number) => named[before(named, at) - 1],
    unnamed: (at: number) => unnamed[before(unnamed, at) - 1],
    within: (from: number, to: number) =>
      named.slice(before(named, from), before(named, to)).map(({ implementation }) => implementation!),
    forget(from: number) {
      for (const list of [named, unnamed]) list.length = before(list, from)
    },
  }
  for (const upgrade of stored) history.add(upgrade)
  return history
}
