import type { RuleMatch } from '../alerts/alert.ts'
import type { AlertUpdate, Scan } from '../alerts/alert-store.ts'
import type { RawBlock } from '../chain/wire.ts'
import { type BlockDocuments, createBlockDocuments } from '../documents/build.ts'
import type { DecodedBlock } from '../documents/decoded-block.ts'
import type { Document } from '../documents/document.ts'
import { asJson } from '../documents/show.ts'
import { tokensIn } from '../documents/tokens.ts'
import type { Log } from '../lib/log.ts'
import { createMetrics, type Metrics } from '../lib/metrics.ts'
import type { Range } from '../lib/ranges.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { createMatcher, type Found, type Matches } from '../rules/matcher.ts'
import { isWide } from '../rules/networks.ts'
import type { StoredRule } from '../rules/rule.ts'
import type { Rules } from '../rules/store.ts'
import type { Contracts } from './contracts.ts'
import type { ProxyResolver } from './proxy-resolver.ts'
import type { Tokens } from './tokens.ts'
import { createTroubles } from './troubles.ts'

/** The rules of one network, as its indexing thread knows them. */
export interface RuleWatcher {
  /** Takes up what was changed of the rules; costs next to nothing where nothing was. `held`: blocks that are stored or on their way. */
  refresh(held: readonly Range[]): void
  /** Grows with each change: what was matched before knows nothing of it. */
  readonly generation: number
  /** Waits until everything is known that only the chain tells of a block's contracts and tokens, and that rules on these, or on what is decoded, may need. */
  complete(raw: RawBlock, signal: AbortSignal): Promise<void>
  /** Whether any rule looks at the block of that number. */
  wants(number: number): boolean
  /**
   * What the rules find in a block that is about to be stored. Where that cannot be decided yet, because the decimals of a token cannot be
   * asked, it waits until it can: that is no "no match".
   */
  match(block: DecodedBlock, signal: AbortSignal): Promise<RuleMatch[]>
  /** Changes that the writer does not know yet; they must come with, or before, the first block that was matched by them. */
  takeUpdate(): Omit<AlertUpdate, 'hits'> | undefined
  /** Histories that rules asked for and that are still to be gone through. */
  readonly scans: ReadonlyMap<number, Scan>
  rule(id: number): StoredRule | undefined
  /** Whether a rule's alerts wait for what nodes tell to be safe or finalized. */
  readonly waitsForMarks: boolean
  /** The head is known now: rules that were created before begin above it, even if they are read later. */
  fixStarts(head: number): void
  /** Why matching waits; null if it does not. */
  readonly waiting: string | null
  /** Why rules did not do all that they should, in sentences, until they are changed. */
  readonly troubles: ReadonlyMap<number, string>
  /** Why the rules of an account did not, until one of them is changed. */
  readonly accountTroubles: ReadonlyMap<number, string>
  close(): void
}

export interface RuleWatcherOptions {
  network: string
  rules: Pick<Rules, 'version' | 'changes' | 'fixStart' | 'close'>
  /** Those that are stored; the map is kept up to date. */
  scans: Map<number, Scan>
  tokens: Pick<Tokens, 'of' | 'seen' | 'isUndecided' | 'isUnasked' | 'require'>
  contracts: Pick<Contracts, 'in' | 'isOpen' | 'require'>
  /** Default: nothing is decoded by what proxies run. */
  links?: Pick<ProxyResolver, 'isOpen' | 'require'>
  log: Log
  limits?: Limits
  clock?: Clock
  metrics?: Metrics
}

/** What is decoded, and so may depend on whose code a proxy runs. */
const DECODED: readonly Kind[] = ['event', 'call', 'tx', 'contract']

const FIX_AGAIN_MS = 10_000

export const createRuleWatcher = ({
  network,
  rules,
  scans,
  tokens,
  contracts,
  links,
  log,
  limits = DEFAULT_LIMITS,
  clock = systemClock,
  metrics = createMetrics(),
}: RuleWatcherOptions): RuleWatcher => {
  const matcher = createMatcher({ most: limits.ruleMatches })
  const rulesKnown = metrics.gauge('chainsieve_rules', 'Rules of the network, active and paused.')
  const blocksMatched = metrics.counter('chainsieve_matcher_blocks_total', 'Blocks that were matched with rules.')
  const matchesFound = metrics.counter('chainsieve_matcher_matches_total', 'Matches of rules in blocks.')
  const matching = metrics
    .histogram(
      'chainsieve_matcher_duration_seconds',
      'Time of matching a block, without waits for a node.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    )
    .of({})
  const troubles = createTroubles(log, 'rule')
  const accountTroubles = createTroubles(log, 'account')
  const known = new Map<number, StoredRule>()
  const paused = new Set<number>()
  let version = -1
  let seq = 0
  let generation = 0
  let waitsForMarks = false
  let head: number | undefined
  /** First blocks of rules that could not be noted yet, and when to try again. */
  const open = new Map<number, number>()
  let fixAt = 0
  /** Why a block waits, by its number: lanes wait each for itself. */
  const waits = new Map<number, string>()
  let update: { paused?: readonly number[]; gone: number[]; scans: Map<number, Scan> } = { gone: [], scans: new Map() }

  /** From here on the rule is looked for in every block; what is stored already is gone through where the rule asks for it. */
  const register = ({ id, startBlock }: StoredRule, held: readonly Range[]) => {
    if (startBlock === null) return
    const before = scans.get(id)
    // Its conditions may have changed, but that does not require another scan of history.
    if (before?.start === startBlock) return
    const last = held.at(-1)?.to ?? -1
    const scan = { rule: id, start: startBlock, next: startBlock, last: Math.max(last, startBlock - 1) }
    scans.set(id, scan)
    update.scans.set(id, scan)
  }

  /** A file of accounts that cannot be written now holds up no block: it is tried again. */
  const fixStart = (rule: StoredRule, stored: number) => {
    const { id, startBlock } = rule
    if (startBlock !== null) return
    if (isWide(rule.network)) return fixOwn(rule, stored)
    if (head === undefined) return
    const start = open.get(id) ?? Math.max(head, stored) + 1
    try {
      rules.fixStart(id, start)
      open.delete(id)
    } catch (error) {
      log.warn('Failed to note where a rule begins, will retry', { rule: id, error })
      open.set(id, start)
      fixAt = clock.now() + FIX_AGAIN_MS
    }
  }

  /** A rule of several networks begins in each above all that is known there, which is noted with the network's blocks. */
  const fixOwn = (rule: StoredRule, stored: number) => {
    if (head === undefined && stored < 0) return
    const fixed = { ...rule, startBlock: Math.max(head ?? -1, stored) + 1 }
    known.set(rule.id, fixed)
    take(fixed)
    register(fixed, [])
    generation++
  }

  /** The rule as it is here. */
  const toOwn = (rule: StoredRule): StoredRule =>
    rule.startBlock === null && isWide(rule.network) ? { ...rule, startBlock: scans.get(rule.id)?.start ?? null } : rule

  const take = (rule: StoredRule) => {
    try {
      matcher.set(rule)
    } catch (error) {
      troubles.add(rule.id, 'The rule is not matched: it could not be loaded, because of a fault of the server.', error)
    }
  }

  /** Notes rules that failed or found too much; the hits of the others hold. */
  const noteTroubles = ({ failed, cut }: Pick<Matches, 'failed' | 'cut'>, block: number) => {
    for (const { rule, error } of failed)
      troubles.add(
        rule.id,
        `The rule could not be matched with all of block ${block}, because of a fault of the server.`,
        error,
      )
    for (const account of cut)
      accountTroubles.add(
        account,
        `Some matches in block ${block} make no alerts. ${overLimit('ruleMatches', limits).message}`,
      )
  }

  const forgetTroubles = (rule: number) => {
    troubles.forget(rule)
    const account = known.get(rule)?.account
    if (account !== undefined) accountTroubles.forget(account)
  }

  const refresh = (held: readonly Range[]) => {
    if (open.size > 0 && clock.now() >= fixAt)
      for (const id of open.keys()) {
        const rule = known.get(id)
        if (rule?.startBlock === null) fixStart(rule, -1)
        else open.delete(id)
      }
    const current = rules.version()
    if (current === version) return
    version = current
    const { seq: now, changed, removed } = rules.changes(network, seq)
    seq = now
    if (changed.length === 0 && removed.length === 0) return
    const wasPaused = paused.size
    let pausing = false
    for (const id of removed) {
      forgetTroubles(id)
      pausing = paused.delete(id) || pausing
      scans.delete(id)
      update.scans.delete(id)
      if (known.delete(id)) matcher.remove(id)
      update.gone.push(id)
    }
    for (const rule of changed.map(withoutActions).map(toOwn)) {
      if (rule.enabled ? paused.delete(rule.id) : !paused.has(rule.id) && paused.add(rule.id)) pausing = true
      known.set(rule.id, rule)
      forgetTroubles(rule.id)
      if (rule.unfit !== undefined) troubles.add(rule.id, rule.unfit)
      take(rule)
      register(rule, held)
      fixStart(rule, held.at(-1)?.to ?? -1)
    }
    if (pausing || paused.size !== wasPaused) update.paused = [...paused]
    generation++
    waitsForMarks = [...known.values()].some(({ input }) => typeof input.maxConfirmationCount === 'string')
    rulesKnown.set({ state: 'enabled' }, known.size - paused.size)
    rulesKnown.set({ state: 'paused' }, paused.size)
  }

  const toMatch = ({ rule, kind, document }: Found, source: string, raw: RawBlock, receivedAt: number): RuleMatch => ({
    rule: rule.id,
    revision: rule.matching,
    targetType: rule.input.config.targetType,
    confirmations: rule.input.maxConfirmationCount,
    notifyPending: rule.input.notifyPending === true,
    block: Number(raw.block.number),
    blockHash: raw.block.hash,
    entity: { _id: document._id, _type: kind },
    source,
    receivedAt,
    ...(isWide(rule.network) && { network }),
  })

  /** Many rules may have found the same entity. */
  const toMatches = (found: readonly Found[], raw: RawBlock, receivedAt: number): RuleMatch[] => {
    const sources = new Map<Document, string>()
    return found.map(one => {
      const { document } = one
      const source = sources.get(document) ?? JSON.stringify(document._source)
      sources.set(document, source)
      return toMatch(one, source, raw, receivedAt)
    })
  }

  /** Asks again and again for what rules cannot be decided without. */
  const until = async (number: number, isOpen: () => boolean, ask: () => Promise<void>, what: string) => {
    let told = false
    try {
      while (isOpen()) {
        waits.set(number, `block ${number} waits for ${what}, which a rule may need and the node does not send`)
        await ask()
        if (told || !isOpen()) continue
        log.warn('Cannot decide a rule yet, will retry', { block: number, missing: what })
        told = true
      }
    } finally {
      waits.delete(number)
    }
  }

  return {
    refresh,
    get generation() {
      return generation
    },
    async complete(raw, signal) {
      const number = Number(raw.block.number)
      if (!matcher.wants(number)) return
      const newTokens = () =>
        [...tokensIn(raw, contracts.in(raw)).keys()]
          .map(address => address.slice(2))
          .filter(address => tokens.seen(address) === undefined && tokens.isUnasked(address))
      await until(
        number,
        () => matcher.looksAt('contract') && contracts.isOpen(raw),
        () => contracts.require(raw, signal),
        'the code of a contract that it creates',
      )
      await until(
        number,
        () => links !== undefined && DECODED.some(matcher.looksAt) && links.isOpen(raw),
        () => links!.require(raw, signal),
        'what a contract in it is a proxy of',
      )
      await until(
        number,
        () => matcher.looksAt('token') && newTokens().length > 0,
        () => tokens.require(newTokens(), signal),
        'the name, symbol and decimals of a new token',
      )
    },
    wants: matcher.wants,
    async match(block, signal) {
      const { raw } = block
      const number = Number(raw.block.number)
      if (!matcher.wants(number)) return []
      const receivedAt = clock.now()
      let told = false
      try {
        for (;;) {
          const began = performance.now()
          const documents: BlockDocuments = createBlockDocuments({ ...block, decimals: tokens.of }, asJson)
          const { found, undecided, ...trouble } = matcher.match({
            ...block,
            decimals: tokens.of,
            undecided: tokens.isUndecided,
            documents,
          })
          if (undecided.length === 0) {
            matching((performance.now() - began) / 1_000)
            blocksMatched.add({})
            matchesFound.add({}, found.length)
            noteTroubles(trouble, number)
            return toMatches(found, raw, receivedAt)
          }
          const token = `0x${undecided[0]}`
          waits.set(
            number,
            `block ${number} waits for the decimals of ${token}, which a rule needs and the node does not send`,
          )
          await tokens.require(undecided, signal)
          // What is not answered may be needed no more: rules may have changed meanwhile.
          if (told || !undecided.some(tokens.isUndecided)) continue
          log.warn('Cannot decide a rule yet, will retry', { block: number, token })
          told = true
        }
      } finally {
        waits.delete(number)
      }
    },
    takeUpdate() {
      const { paused, gone, scans } = update
      if (!paused && gone.length === 0 && scans.size === 0) return undefined
      update = { gone: [], scans: new Map() }
      return { ...(paused && { paused }), gone, scans: [...scans.values()] }
    },
    scans,
    rule: id => known.get(id),
    get waitsForMarks() {
      return waitsForMarks
    },
    fixStarts(at) {
      head = at
      for (const rule of known.values()) fixStart(rule, -1)
    },
    get waiting() {
      const [first] = waits.values()
      return first ?? null
    },
    troubles: troubles.all,
    accountTroubles: accountTroubles.all,
    close: rules.close,
  }
}

/** Who only looks for what rules match keeps no more of them: there may be many. */
const withoutActions = (rule: StoredRule): StoredRule => {
  const { name, technology, blockchain, network, maxConfirmationCount, notifyPending, config } = rule.input
  const input = { name, technology, blockchain, network, maxConfirmationCount, config: { ...config, alerts: [] } }
  return { ...rule, input: notifyPending === undefined ? input : { ...input, notifyPending } }
}
