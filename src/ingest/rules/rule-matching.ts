import type { RuleMatch } from '../../alerts/alert.ts'
import type { WindowRows, WindowSource } from '../../alerts/windows.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { BlockDocuments, DecodedBlock, Document } from '../../documents/document.ts'
import { asJson } from '../../documents/show.ts'
import { tokensIn } from '../../documents/tokens.ts'
import { createBlockDocuments, jsonOf } from '../../engine/show/block-documents.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { BlockMatches, MatchedRule, Matcher } from '../../rules/matcher.ts'
import type { LastMatch } from '../../rules/windows/gather.ts'
import type { ChainContracts } from '../contracts/contracts.ts'
import type { ProxyResolver } from '../contracts/proxy-resolver.ts'
import type { ChainTokens } from '../contracts/tokens.ts'
import { matchOfRule } from './match.ts'

export interface RuleMatchingOptions {
  network: string
  matcher: Pick<Matcher, 'match' | 'wants' | 'looksAt'>
  /** `matching` of the rules with windows that are matched, by rule: time goes on for them without a match. */
  windowed(): ReadonlyMap<number, number>
  tokens: Pick<ChainTokens, 'of' | 'seen' | 'isUndecided' | 'isUnasked' | 'require'>
  contracts: Pick<ChainContracts, 'in' | 'isOpen' | 'require'>
  links?: Pick<ProxyResolver, 'isOpen' | 'require'> | undefined
  onTrouble(trouble: Pick<BlockMatches, 'failed' | 'cut'>, block: number): void
  log: Log
  clock: Clock
  metrics: Metrics
}

/** Alerts, and what windows take; undefined where no rule has any. */
export interface FoundInBlock {
  hits: RuleMatch[]
  rows: WindowRows | undefined
}

/** Documents are shared by the rules that found them. */
const toRows = (
  { gathered = [], steps }: Pick<BlockMatches, 'gathered' | 'steps'>,
  matched: ReadonlyMap<number, number>,
  { block }: RawBlock,
  documents: BlockDocuments,
  receivedAt: number,
): WindowRows => {
  const places = new Map<Document, number>()
  const sources: WindowSource[] = []
  const placeOf = ({ kind, document }: LastMatch): number => {
    const known = places.get(document) ?? sources.push(windowSourceOf(kind, document)) - 1
    places.set(document, known)
    return known
  }
  /** Rules share lists. */
  const placed = new Map<readonly LastMatch[], number[]>()
  const placesOf = (lasts: readonly LastMatch[]): number[] => {
    const known = placed.get(lasts) ?? lasts.map(placeOf)
    placed.set(lasts, known)
    return known
  }
  return {
    ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt },
    own: windowSourceOf('block', documents.block(0)!),
    sources,
    matched,
    rules: gathered.map(({ rule, entries, lasts }) => ({
      ...{ rule: rule.id, entries, lasts: placesOf(lasts) },
    })),
    ...(steps && {
      steps: steps.map(({ rule, matches, lasts }) => ({
        ...{ rule: rule.id, matches, lasts: lasts.map(last => (last ? placeOf(last) : -1)) },
      })),
    }),
  }
}

/** The same one for many blocks, which is then sent to the writer once. */
const withoutFailed = (windowed: ReadonlyMap<number, number>, failed: BlockMatches['failed']) => {
  if (failed.length === 0) return windowed
  const left = new Map(windowed)
  for (const { rule } of failed) left.delete(rule.id)
  return left
}

const windowSourceOf = (_type: Kind, document: Document): WindowSource => ({
  ...{ _id: document._id, _type, source: jsonOf(document) },
})

const DECODED: readonly Kind[] = ['event', 'call', 'tx', 'contract']

export const createRuleMatching = (options: RuleMatchingOptions) => {
  const { network, matcher, windowed, tokens, contracts, links, onTrouble, log, clock, metrics } = options
  const blocksMatched = metrics.counter('chainsieve_matcher_blocks_total')
  const matchesFound = metrics.counter('chainsieve_matcher_matches_total')
  const matching = metrics
    .histogram('chainsieve_matcher_duration_seconds', [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1])
    .of({})
  /** Why each waiting block waits; lanes wait independently. */
  const waits = new Map<number, string>()

  const toMatch = ({ rule, kind, document }: MatchedRule, raw: RawBlock, receivedAt: number): RuleMatch =>
    matchOfRule(rule, {
      ...{ network, block: Number(raw.block.number), blockHash: raw.block.hash, receivedAt },
      ...{ entity: { _id: document._id, _type: kind }, source: jsonOf(document) },
    })

  const toMatches = ({ found, failed }: Pick<BlockMatches, 'found' | 'failed'>, raw: RawBlock, receivedAt: number) =>
    found.flatMap((one): RuleMatch[] => {
      try {
        return [toMatch(one, raw, receivedAt)]
      } catch (error) {
        if (!failed.some(({ rule }) => rule.id === one.rule.id)) failed.push({ rule: one.rule, error })
        return []
      }
    })

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
    /** Waits for chain data that rules may need. */
    async complete(raw: RawBlock, signal: AbortSignal) {
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
    /** Matches a block; waits for unknown decimals of tokens, which do not mean "no match". */
    async match(block: DecodedBlock, signal: AbortSignal): Promise<FoundInBlock> {
      const { raw } = block
      const number = Number(raw.block.number)
      if (!matcher.wants(number)) return { hits: [], rows: undefined }
      const receivedAt = clock.now()
      let told = false
      try {
        for (;;) {
          const began = performance.now()
          const documents = createBlockDocuments({ ...block, decimals: tokens.of }, asJson)
          const { found, undecided, gathered, steps, ...trouble } = matcher.match({
            ...block,
            decimals: tokens.of,
            undecided: tokens.isUndecided,
            documents,
          })
          if (undecided.length === 0) {
            matching((performance.now() - began) / 1_000)
            blocksMatched.add({})
            matchesFound.add({}, found.length)
            const hits = toMatches({ found, failed: trouble.failed }, raw, receivedAt)
            const matched = withoutFailed(windowed(), trouble.failed)
            const rows =
              windowed().size > 0
                ? toRows(
                    { ...(gathered && { gathered }), ...(steps && { steps }) },
                    matched,
                    raw,
                    documents,
                    receivedAt,
                  )
                : undefined
            onTrouble(trouble, number)
            return { hits, rows }
          }
          const token = `0x${undecided[0]}`
          waits.set(
            number,
            `block ${number} waits for the decimals of ${token}, which a rule needs and the node does not send`,
          )
          await tokens.require(undecided, signal)
          // Rules may have changed, and no longer need the unanswered decimals.
          if (told || !undecided.some(tokens.isUndecided)) continue
          log.warn('Cannot decide a rule yet, will retry', { block: number, token })
          told = true
        }
      } finally {
        waits.delete(number)
      }
    },
    waiting() {
      const [first] = waits.values()
      return first ?? null
    },
  }
}
