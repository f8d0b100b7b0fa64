/** What windows compute of the matches in them. `First`: a value that the window did not have. */
export const AGGREGATES = ['Count', 'Sum', 'Minimum', 'Maximum', 'Average', 'Distinct', 'First'] as const
export type Aggregate = (typeof AGGREGATES)[number]

export const WINDOW_OPERATORS = ['Greater', 'Greater or Equal', 'Less', 'Less or Equal', 'Equals'] as const
export type WindowOperator = (typeof WINDOW_OPERATORS)[number]

export interface WindowCondition {
  aggregate: Aggregate
  /** Field whose values are aggregated; absent with `Count`. */
  name?: string
  /** Absent with `First`. */
  operator?: WindowOperator
  /** A decimal number; absent with `First`. */
  value?: string
  /** The value is a factor of the mean of so many windows before. */
  relativeTo?: { windows: number }
}

/** Either so many blocks, or seconds of the chain's time. */
export interface WindowSpan {
  blocks?: number
  seconds?: number
}

/** `when` of a rule. */
export interface WindowSpec {
  /** Fields of whose values each combination has a window. */
  by?: string[]
  /** Values of the only field in `by` that have a window although nothing matched. */
  keys?: string[]
  within: WindowSpan
  conditions: WindowCondition[]
  /** How long the conditions must hold before an episode opens. */
  hold?: WindowSpan
  /** One window over all networks of the rule, in the order of their times. */
  across?: boolean
  /** End an episode whose conditions no longer hold. */
  resolve?: WindowCondition[]
}

/** `when` of a rule of the target `State`: it holds while the newest reading meets the conditions of the rule. */
export interface NewestSpec<Condition = unknown> {
  /** `address`: each account by itself. */
  by?: string[]
  hold?: WindowSpan
  /** What a reading must meet to end an episode; by default it ends where the conditions are not met. */
  resolve?: Condition[]
}

export const isOfWindows = (when: WindowSpec | NewestSpec): when is WindowSpec => 'within' in when

export interface ShownCondition {
  /** Absent of readings. */
  aggregate?: Aggregate
  name?: string
  /** Of an average, 18 digits after the point; null if there are no values. */
  value: string | null
}

/** How far back a rule looks: its window, and those that it compares with. */
export const reachOf = ({ within, conditions, resolve = [] }: WindowSpec): WindowSpan =>
  windowsLong(within, 1 + Math.max(0, ...[...conditions, ...resolve].map(it => it.relativeTo?.windows ?? 0)))

export const windowsLong = ({ blocks, seconds }: WindowSpan, count: number): WindowSpan =>
  blocks === undefined ? { seconds: seconds! * count } : { blocks: blocks * count }

/** A part of what a window keeps; several conditions may share one. */
export interface WindowMeasure {
  kind: 'sum' | 'least' | 'greatest' | 'distinct'
  name: string
}

const MEASURES: Readonly<Record<Exclude<Aggregate, 'Count'>, WindowMeasure['kind']>> = {
  ...{ Sum: 'sum', Average: 'sum', Minimum: 'least', Maximum: 'greatest' },
  ...{ Distinct: 'distinct', First: 'distinct' },
}

export const measureOf = ({
  aggregate,
  name = '',
}: Pick<WindowCondition, 'aggregate' | 'name'>): WindowMeasure | undefined =>
  aggregate === 'Count' ? undefined : { kind: MEASURES[aggregate], name }

export const measuresOf = ({
  conditions,
  resolve = [],
}: Pick<WindowSpec, 'conditions' | 'resolve'>): WindowMeasure[] => {
  const all = [...conditions, ...resolve].flatMap(condition => measureOf(condition) ?? [])
  return [...new Map(all.map(measure => [`${measure.kind} ${measure.name}`, measure])).values()]
}
