import { DIGEST_MS } from '../delivery/channels/channel.ts'
import { joinsMessages } from '../delivery/channels/index.ts'
import { ChainsieveError, retry } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import type { Limits } from '../limits/index.ts'
import { MAPPING } from '../mapping/index.ts'
import type { FindList } from '../rules/lower.ts'
import { type AlertEvent, createMessageCount, createQuietFilter } from '../rules/notify/messages.ts'
import { actionsOf, kindOfTarget, notifiesPending, type RuleConfig, type RuleInput } from '../rules/rule.ts'
import {
  documentBlock,
  MAX_EPISODES,
  type RuleSimulation,
  type SimulatedEpisode,
  type SimulatedMoment,
} from '../rules/search.ts'
import { isAcross } from '../rules/windows/across.ts'
import { asAlerted, isSequence, type SequenceSpec, sequenceShape, windowSpecOf } from '../rules/windows/steps.ts'
import { hiddenFields, type StoredMatch, secondsOf, wholeSourceText } from '../rules/windows/stored.ts'
import type { Episode } from '../windows/replay.ts'
import { type FoundSequence, shownSteps } from '../windows/sequence.ts'
import { namedKey } from '../windows/shown-key.ts'
import type { WindowSpec } from '../windows/spec.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { Readings } from './readings.ts'
import { runSequences } from './sequences.ts'
import { type AskStore, type BlockHistory, createStoredBlocks } from './stored-blocks.ts'
import { runWindows } from './windows.ts'

export interface BackTest {
  rule: RuleInput
  lists: FindList
  network: string
  from: number
  to: number
  /** Stored blocks, and the matches among those of the range. */
  ranges: readonly Range[]
  total: number
  /** Of a rule that reads state. */
  readings?: Readings | undefined
  ask: AskStore
  limits: Limits
  deadlineMs: number
  /** Most episodes to show. */
  episodes?: number | undefined
}

type BackTested = Pick<RuleSimulation, 'alerts' | 'messages' | 'windows' | 'warnings'>

/** The alerts that a rule would have made, and the messages of its receivers. */
export const backTest = async (test: BackTest): Promise<BackTested> => {
  const { rule, ask, deadlineMs, readings } = test
  const { config } = rule
  const alerted = asAlerted(rule)
  const messages = countMessages(alerted)
  if (isAcross(config))
    return untold(
      messages,
      'these are matches of each network by itself. What they make together is seen as blocks arrive.',
    )
  const hidden = config.when && !readings ? hiddenFields(config) : []
  if (hidden.length > 0)
    return untold(messages, `stored documents do not show ${hidden.join(' and ')}, which lies within an argument.`)
  const until = performance.now() + deadlineMs
  const check = () => {
    if (performance.now() > until) throw passedDeadline()
  }
  const asking: AskStore = request => {
    check()
    return ask(request)
  }
  const stored = createStoredBlocks(asking, readings ? [] : groupFieldsOf(alerted.config))
  const blocks: BlockHistory = readings
    ? {
        ...stored,
        async *matches() {
          yield* readings.matches
        },
      }
    : stored
  try {
    const means = { blocks, check, messages }
    if (isSequence(config.when)) return await sequencesOf(test, config.when, means)
    return config.when ? await windowsOf(test, means) : await alertsOf(test, means)
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.code === PASSED_DEADLINE)) throw error
    return untold(messages, 'that takes longer than query-deadline: ask for fewer blocks.')
  }
}

/** Fields of a block that `group` looks at: of an alert without a match, the block is the document. */
const groupFieldsOf = ({ notify, targetType }: RuleConfig): string[] => {
  const { listedAs } = MAPPING[kindOfTarget(targetType)]
  return (notify?.group?.by ?? []).map(name => {
    const [first, second] = name.split('.')
    return (first === listedAs && second) || first!
  })
}

const PASSED_DEADLINE = 'search_timeout_exception'
const passedDeadline = () =>
  retry(PASSED_DEADLINE, 'the back-test passed its deadline: ask for fewer blocks, or raise query-deadline')

const untold = (messages: Means['messages'], why: string): BackTested => ({
  alerts: null,
  messages: messages.counts().map(it => ({ ...it, messages: null })),
  warnings: [`The alerts of the rule in these blocks were not counted: ${why}`],
})

interface Means {
  blocks: BlockHistory
  /** Throws when it takes too long. */
  check(): void
  messages: ReturnType<typeof countMessages>
}

const countMessages = (rule: RuleInput) => {
  const pending = notifiesPending(rule) && rule.maxConfirmationCount !== 0
  const receivers = actionsOf(rule).map((action, place) => {
    const { groups, combines } = joinsMessages(action)
    const digestMs = combines ? DIGEST_MS : 0
    const count = createMessageCount({ config: rule.config, pending }, { groups, digestMs })
    return { action: place, type: action.type, combines, count }
  })
  const { quiet, group } = rule.config.notify ?? {}
  return {
    /** Whether each match is an alert and a message. */
    areAlone: quiet === undefined && group === undefined && !receivers.some(({ combines }) => combines),
    perAlert: pending ? 2 : 1,
    add(event: AlertEvent) {
      for (const { count } of receivers) count.add(event)
    },
    counts: (other?: number) =>
      receivers.map(({ action, type, count }) => ({ action, type, messages: other ?? count.count() })),
  }
}

/** Matches of a rule without `when` that are looked at one by one. */
const MAX_COUNTED = 50_000

const alertsOf = async (
  { rule: { config }, lists, network, from, to, total }: BackTest,
  { blocks, messages }: Means,
): Promise<BackTested> => {
  if (messages.areAlone || total === 0) return { alerts: total, messages: messages.counts(total * messages.perAlert) }
  if (total > MAX_COUNTED) return untold(messages, `there are more than ${MAX_COUNTED} matches: ask for fewer blocks.`)
  const isAlert = createQuietFilter(config)
  let alerts = 0
  for await (const match of blocks.matches(config, lists, from, to)) {
    const { number: block } = documentBlock(match)
    const found = { block, time: secondsOf(match), source: wholeSourceText(match) }
    if (isAlert(found)) messages.add({ ...found, type: 'opened', alert: alerts++, network })
  }
  return { alerts, messages: messages.counts() }
}

const windowsOf = async (
  { rule: { config }, lists, network, from, to, ranges, readings, limits, episodes: most = MAX_EPISODES }: BackTest,
  { blocks, check, messages }: Means,
): Promise<BackTested> => {
  const spec = windowSpecOf(config)
  const places = new Map<Episode, number>()
  const shown = createNewest<Episode>(most)
  let alerts = 0
  let open = 0
  const opens = ({ opened: { number: block, time } }: Episode, alert: number, last: StoredMatch | undefined) =>
    messages.add({ type: 'opened', alert, block, time, network, source: wholeSourceText(last ?? blocks.at(block)!) })
  const tell = (type: 'ended' | 'repeated', alert: number, { number: block, time }: WindowBlock) =>
    messages.add({ type, alert, block, time })
  const { ruleKeys: keys, ruleRows: rows } = limits
  const { refused, undecided } = await runWindows(
    { ...{ config, lists, from, to, ranges, readings, blocks, check }, limits: { keys, rows } },
    {
      opened(episode, last) {
        opens(episode, alerts, last)
        if (!episode.first) {
          places.set(episode, alerts)
          open++
        }
        alerts++
        shown.add(episode)
      },
      ended(episode) {
        open--
        tell('ended', places.get(episode)!, episode.ended!)
        places.delete(episode)
      },
      repeated: (episode, block) => tell('repeated', places.get(episode)!, block),
    },
  )
  return {
    ...{ alerts, messages: messages.counts() },
    windows: {
      episodes: shown.newestFirst().map((episode): SimulatedEpisode => showEpisode(spec, episode)),
      ...{ open, undecided: undecided.map(range => ({ ...range })) },
    },
    ...(refused > 0 && {
      warnings: [
        `Its windows hold at most ${keys} keys and ${rows} rows: ${refused} times, matches of a further key in a block were left out.`,
      ],
    }),
  }
}

const sequencesOf = async (
  { rule: { config }, lists, network, from, to, ranges, limits, episodes: most = MAX_EPISODES }: BackTest,
  when: SequenceSpec,
  { blocks, check, messages }: Means,
): Promise<BackTested> => {
  const shown = createNewest<SimulatedEpisode>(most)
  let alerts = 0
  const { ruleKeys: keys, ruleRows: rows, ruleMatches } = limits
  const { refused, untold, undecided } = await runSequences(
    { ...{ config, lists, from, to, ranges, blocks, check }, limits: { keys, rows }, most: ruleMatches },
    (sequence, now, last) => {
      const { number: block, time } = now
      const source = wholeSourceText(last ?? blocks.at(block)!)
      messages.add({ type: 'opened', alert: alerts++, block, time, network, source })
      shown.add(showSequence(when, sequence, now))
    },
  )
  return {
    ...{ alerts, messages: messages.counts() },
    windows: { episodes: shown.newestFirst(), open: 0, undecided: undecided.map(range => ({ ...range })) },
    warnings: [
      ...(refused > 0
        ? [`Its sequences hold at most ${keys} keys and ${rows} rows: ${refused} first steps were left out.`]
        : []),
      ...(untold > 0
        ? [`A rule with steps makes at most ${ruleMatches} alerts in one block: ${untold} sequences made none.`]
        : []),
    ],
  }
}

/** Keeps the newest of what comes in the order of the chain. */
const createNewest = <T>(most: number) => {
  let kept: T[] = []
  return {
    add(one: T) {
      kept.push(one)
      if (kept.length >= 2 * most) kept = kept.slice(-most)
    },
    newestFirst: (): T[] => kept.slice(-most).toReversed(),
  }
}

export const showSequence = (when: SequenceSpec, sequence: FoundSequence, now: WindowBlock): SimulatedEpisode => ({
  ...{ key: namedKey(when.steps[0]!, sequence.key), opened: showMoment(now) },
  ...{ matches: sequence.steps.length, peak: [], steps: shownSteps(sequenceShape(when), sequence) },
})

export const showEpisode = (
  spec: Pick<WindowSpec, 'by'>,
  { key, first, opened, ended, matches, peak }: Episode,
): SimulatedEpisode => ({
  key: namedKey(spec, key, first),
  opened: showMoment(opened),
  ...(!first && { ended: ended && showMoment(ended) }),
  ...{ matches, peak },
})

const showMoment = ({ number, time }: WindowBlock): SimulatedMoment => ({
  block: number,
  time: new Date(time * 1_000).toISOString(),
})
