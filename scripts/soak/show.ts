import { count, showTable } from '../lib/table.ts'
import type { Curve, Judgement, Sample } from './judge.ts'

const MB = 1e6
const SHOWN: Record<Curve, { name: string; by: number; digits: number }> = {
  memory: { name: 'memory, MB', by: MB, digits: 0 },
  files: { name: 'open files', by: 1, digits: 0 },
  threads: { name: 'threads', by: 1, digits: 0 },
  store: { name: 'store, MB', by: MB, digits: 1 },
  ledger: { name: 'deliveries, MB', by: MB, digits: 1 },
  log: { name: 'WAL, MB', by: MB, digits: 1 },
}

const CURVES = Object.keys(SHOWN) as Curve[]

const textOf = (curve: Curve, value: number): string => {
  const { by, digits } = SHOWN[curve]
  return (value / by).toFixed(digits)
}

export const showSamples = (samples: readonly Sample[], lines = 16): string => {
  const step = Math.max(1, (samples.length - 1) / (lines - 1))
  const shown: Sample[] = []
  for (let i = 0; Math.round(i) < samples.length; i += step) shown.push(samples[Math.round(i)]!)
  return showTable([
    ['time', 'process', ...CURVES.map(curve => SHOWN[curve].name), 'lag', 'delivered', 'queries'],
    ...shown.map(it => [
      clock(it.at),
      String(it.life),
      ...CURVES.map(curve => textOf(curve, it[curve])),
      it.lag === null ? '' : String(it.lag),
      count(it.delivered),
      count(it.answered),
    ]),
  ])
}

export const showJudgements = (judgements: readonly Judgement[]): string =>
  showTable([
    ['curve', 'median', 'growth', 'from first to last process', 'allowed', 'judged', 'verdict'],
    ...judgements.map(({ curve, median, growth, between, allowed, milliseconds, flat }) => [
      SHOWN[curve].name,
      textOf(curve, median),
      signed(textOf(curve, growth)),
      curve === 'store' || curve === 'ledger' ? '' : signed(textOf(curve, between)),
      textOf(curve, allowed),
      clock(milliseconds),
      flat ? 'flat' : 'NOT FLAT',
    ]),
  ])

const LEVELS = '▁▂▃▄▅▆▇█'

/** One line for each curve, from nothing to its highest value. */
export const showChart = (samples: readonly Sample[], width = 72): string =>
  CURVES.map(curve => {
    const columns = columnsOf(
      samples.map(it => it[curve]),
      width,
    )
    const most = Math.max(...columns, 1e-9)
    const bars = columns.map(it => LEVELS[Math.min(LEVELS.length - 1, Math.floor((it / most) * LEVELS.length))])
    return `${SHOWN[curve].name.padEnd(14)} ${bars.join('')} ${textOf(curve, most)}`
  }).join('\n')

const columnsOf = (values: readonly number[], width: number): number[] => {
  const parts = Math.min(width, values.length)
  return Array.from({ length: parts }, (_, i) =>
    Math.max(...values.slice(Math.floor((i * values.length) / parts), Math.floor(((i + 1) * values.length) / parts))),
  )
}

const clock = (ms: number) => {
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const signed = (text: string) => (Number(text) > 0 ? `+${text}` : text)
