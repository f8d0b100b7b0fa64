import { count, fixed, showTable, type Times } from '../../lib/table.ts'
import type { Held } from '../fill.ts'
import { type Row, row } from '../report.ts'
import type { Streamed } from '../serving.ts'
import type { Asked, Compared, Worked } from './asking.ts'
import type { Both } from './sides.ts'

/** How the times of both are compared. Where totals differ times say nothing: then it is undefined. */
export interface Comparison {
  is: string
  of(asked: Pick<Asked, 'differing' | 'times'>): number | undefined
  mean?: (values: readonly number[]) => number
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

/** Of medians: how many times as fast ours is. */
export const RATIO: Comparison = {
  is: 'ratio of p50',
  of: ({ differing, times }) => (differing.length > 0 ? undefined : times.theirs.p50 / times.ours.p50),
  mean: geometricMean,
}

export const valueText = (value: number | undefined): string => (value === undefined ? 'totals differ' : fixed(value))
export const pair = ({ p50, p99 }: Times): string => `${fixed(p50)} / ${fixed(p99)}`
export const cpuText = (cpu: number | undefined): string => (cpu === undefined ? '' : fixed(cpu))

/** The mean of all questions; undefined where one of the totals differs. */
export const meanOf = ({ of, mean = geometricMean }: Comparison, asked: readonly Asked[]): number | undefined => {
  const values = asked.map(of)
  return values.includes(undefined) ? undefined : mean(values as number[])
}

const again = (one: Asked): Asked => ({ ...one, times: one.again })

export const showQuestions = (asked: readonly Asked[], version: string, comparison: Comparison): string => {
  const { is, of, mean } = comparison
  return showTable([
    [
      ...['query', 'ours p50 / p99 ms', `${version} p50 / p99 ms`, is, 'our processor ms'],
      ...['again: ours', 'theirs', is.split(' ')[0]!],
    ],
    ...asked.map(one => [
      `${one.question} (${count(one.hits)} hits)`,
      ...[pair(one.times.ours), pair(one.times.theirs), valueText(of(one)), cpuText(one.cpu)],
      ...[fixed(one.again.ours.p50), fixed(one.again.theirs.p50), valueText(of(again(one)))],
    ]),
    ...(mean
      ? [
          [
            ...['geometric mean', '', '', `**${valueText(meanOf(comparison, asked))}**`, '', '', ''],
            valueText(meanOf(comparison, asked.map(again))),
          ],
        ]
      : []),
  ])
}

export const showCrowds = ({ crowds, asked }: Compared, version: string): string =>
  showTable([
    [
      ...['clients, all ten mixed', 'ours answers/s', 'p50 / p99 ms', `${version} answers/s`, 'p50 / p99 ms', 'ratio'],
      ...['processor ms, ours', 'theirs'],
    ],
    ...crowds.map(({ clients, varying, results: { ours, theirs } }) => [
      `${clients}${varying === 'nothing' ? ', the same again' : ''}`,
      ...[count(ours.perSecond), pair(ours), count(theirs.perSecond), pair(theirs)],
      ...[valueText(rateRatio(asked, ours, theirs)), cpuText(ours.cpu), cpuText(theirs.cpu)],
    ]),
  ])

/** Of answers a second: those of a mix say nothing either where one of its totals differs. */
export const rateRatio = (asked: readonly Asked[], ours: Worked, theirs: Worked): number | undefined =>
  meanOf(RATIO, asked) && ours.perSecond / theirs.perSecond

export const atLeast = (name: string, value: number | undefined, least: number, note = ''): Row =>
  row(name, `${valueText(value)}${note}`, { target: `>= ${least}`, ok: value !== undefined && value >= least })

type Streams = Both<Omit<Streamed, 'memory'>[]>

/** The best round of each side: what slows one down is others that use the machine. */
export const streamRows = ({ ours, theirs }: Streams, least?: number): Row[] => {
  const best = (all: Streams['ours']) => Math.max(...all.map(({ hits, seconds }) => hits / seconds))
  const same = ours[0]!.hits === theirs[0]!.hits
  return [
    row(`size: -1, ${count(ours[0]!.hits)} events`, `${count(best(ours))} events/s`),
    row(`a scroll of 10,000 each, ${count(theirs[0]!.hits)} events`, `${count(best(theirs))} events/s`),
    ...(least === undefined ? [] : [atLeast('all events, ratio', same ? best(ours) / best(theirs) : undefined, least)]),
  ]
}

export const perLog = (bytes: number, { logs }: Held): string => `${count(bytes / logs)} bytes/log`
