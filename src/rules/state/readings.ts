import type { ReadQuestion, StateAnswer } from '../../chain/source.ts'
import { blockParts } from '../../documents/logs.ts'
import {
  asJson,
  COIN_DECIMALS,
  coinAmount,
  formatAddress,
  formatArgument,
  formatQuantity,
} from '../../documents/show.ts'
import { compileTest, operandOf } from '../../query/compare.ts'
import { showExact, simplifyExact } from '../../query/exact.ts'
import type { WindowEntry } from '../../windows/entries.ts'
import type { NewestSpec, ShownCondition } from '../../windows/spec.ts'
import { canonicalKey } from '../../windows/window.ts'
import { type FindList, NO_LISTS, OPERATOR_MEANINGS } from '../lower.ts'
import { isListValue, isLogic, type RuleCondition, type RuleConfig, type RuleOperator } from '../rule.ts'
import { decodeResults, encodeCall, parseCall, type ReadConfig } from './call.ts'
import { type Comparing, type StateReading, stateFaces, stateSteps } from './fields.ts'

interface ReadBlock {
  number: number
  hash: string
  /** Seconds. */
  time: number
}

/** What a rule of the target `State` asks at a block, and what the answers mean. */
export const createStateReader = (read: ReadConfig) => {
  const abi = read.balances ? undefined : parseCall(read.call)
  const questions: ReadQuestion[] = read.balances
    ? read.balances.map(address => ({ balanceOf: address.toLowerCase() }))
    : [{ to: read.address.toLowerCase(), data: encodeCall(abi!, read.args ?? []) }]
  const addresses = (read.balances ?? [read.address!]).map(it => formatAddress(it.toLowerCase()))
  const decimals = read.balances ? COIN_DECIMALS : (read.decimals ?? null)

  const comparing: Comparing = { outputs: abi?.outputs ?? [], decimals }

  const shownOf = (answer: StateAnswer): { value?: unknown; result?: unknown; error: string | null } => {
    if ('error' in answer) return { error: answer.error }
    if (!abi) {
      const value = BigInt(answer.hex)
      return { value: { coin: coinAmount(value), ...formatQuantity(value, asJson) }, error: null }
    }
    const results = decodeResults(abi.outputs, answer.hex)
    if (typeof results === 'string') return { error: results }
    return { result: results.map(it => formatArgument(it, decimals, asJson)), error: null }
  }

  return {
    questions,
    matches: (config: RuleConfig, lists: FindList = NO_LISTS) => compileAll(config.targetMap, { lists, ...comparing }),
    /** What a rule with `when` takes of readings. */
    verdicts: (config: RuleConfig, lists: FindList = NO_LISTS) => {
      const { by = [], resolve } = config.when as NewestSpec<RuleCondition>
      const meets = compileAll(config.targetMap, { lists, ...comparing })
      const ends = compileAll(resolve ?? [], { lists, ...comparing })
      const shown = shownValues(config.targetMap, comparing)
      return (block: number, readings: readonly { _id: string; _source: StateReading }[]): WindowEntry[] =>
        readings.map(({ _id, _source }) => {
          const verdict = _source.error === null ? meets(_source) : undefined
          const reading = { block, meets: verdict, ends: ends(_source), shown: shown(_source) }
          return {
            key: JSON.stringify(by.map(name => canonicalKey(String(_source[name])))),
            ...{ count: 1, ids: [_id], parts: [] },
            reading: { ...reading, ...(verdict && { source: JSON.stringify(_source) }) },
          }
        })
    },
    /** One reading of each question, with its id. `before`: the answers at the block before. */
    readings(
      { number, hash, time }: ReadBlock,
      answers: readonly StateAnswer[],
      before: { number: number; answers: readonly StateAnswer[] } | undefined,
    ): { _id: string; _source: StateReading }[] {
      const block = blockParts(number, hash, time)
      return answers.map((answer, i) => {
        const previous = before?.answers[i]
        const { error, ...shown } = shownOf(answer)
        return {
          _id: `${hash}_s_${addresses[i]}`,
          _source: {
            address: addresses[i],
            call: abi ? abi.name : 'balance',
            args: read.args ?? [],
            blockNumber: formatQuantity(number, asJson),
            blockHash: hash,
            timestamp: time,
            datetime: block.datetime,
            ...shown,
            previous: previous ? { blockNumber: formatQuantity(before!.number, asJson), ...shownOf(previous) } : null,
            changed: previous ? JSON.stringify(previous) !== JSON.stringify(answer) : null,
            error,
          },
        }
      })
    },
  }
}

/** Conditions whose values an alert shows: all but those inside `Or` and `Not`. */
export const shownConditions = (
  conditions: readonly RuleCondition[],
): { names: string[]; scaled: boolean; operator: RuleOperator }[] =>
  conditions.flatMap(condition => {
    if (isLogic(condition)) return []
    const { name, operator, useScaledValue = false, operatorParameters } = condition
    if (operator !== 'Inspect') return [{ names: [name], scaled: useScaledValue, operator }]
    return shownConditions(operatorParameters ?? []).map(it => ({ ...it, names: [name, ...it.names] }))
  })

const shownValues = (conditions: readonly RuleCondition[], context: Comparing) => {
  const readers = shownConditions(conditions).map(({ names, scaled }) => ({
    name: names.join('.'),
    faces: stateFaces(stateSteps(names), scaled, context),
  }))
  return (reading: StateReading): ShownCondition[] =>
    readers.map(({ name, faces }) => {
      const [face] = faces?.(reading) ?? []
      return { name, value: face ? (face.number ? showExact(simplifyExact(face.number)) : face.text) : null }
    })
}

type ReadingTest = (reading: StateReading) => boolean

const compileAll = (
  conditions: readonly RuleCondition[],
  context: Comparing & { lists: FindList },
  around: readonly string[] = [],
  scaled = false,
): ReadingTest => {
  const tests = conditions.map((condition): ReadingTest => {
    if (isLogic(condition)) {
      const inner = condition.operatorParameters.map(it => compileAll([it], context, around, scaled))
      const wanted = condition.operator === 'Or'
      return reading => inner.some(test => test(reading)) === wanted
    }
    const { name, operator, value, useScaledValue, operatorParameters } = condition
    const names = [...around, name]
    const isScaled = scaled || useScaledValue === true
    if (operator === 'Inspect') return compileAll(operatorParameters ?? [], context, names, isScaled)
    const faces = stateFaces(stateSteps(names), isScaled, context)
    const operands = value === undefined || isListValue(value) ? [] : typeof value === 'string' ? [value] : value
    const list = isListValue(value) ? { list: context.lists(value.list) } : {}
    const test = compileTest({ ...OPERATOR_MEANINGS[operator], operands: operands.map(operandOf), ...list })
    return reading => faces?.(reading).some(test) ?? false
  })
  return reading => tests.every(test => test(reading))
}
