import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Kind } from '../../src/mapping/index.ts'
import type { CompareNode, Node } from '../../src/query/ast.ts'
import { checkAttribute } from '../../src/rules/attributes.ts'
import { lowerConditions, toQuery } from '../../src/rules/lower.ts'
import type { RuleCondition, TargetType } from '../../src/rules/rule.ts'

const lowered = (targetType: TargetType, ...targetMap: RuleCondition[]) =>
  lowerConditions({ targetType, targetMap, alerts: [] })

const compare = (kind: Kind, steps: string[], text: string, rest: Partial<CompareNode> = {}): CompareNode => ({
  op: 'compare',
  kind,
  steps,
  how: 'equal',
  operands: [{ text, number: undefined }],
  ignoreCase: false,
  scaled: false,
  ...rest,
})

describe('a rule as conditions', () => {
  it('takes the list in which old rules expect traces for the trace itself', () => {
    const value = '0x52243C97DD8556fe1092084c199aeFAD4c34fD89'
    const to: RuleCondition = { name: 'to', operator: 'Equals (ignore case)', value }
    const action: RuleCondition = { name: 'action', operator: 'Inspect', operatorParameters: [to] }
    assert.deepEqual(
      lowered('Trace', { name: 'trace', operator: 'Inspect', operatorParameters: [action] }),
      lowered('Trace', { ...to, name: 'action.to' }),
    )
  })

  it('makes of an Inspect nothing but a longer way', () => {
    assert.deepEqual(
      lowered(
        'Event',
        { name: 'event', operator: 'Equals', value: 'Transfer' },
        {
          name: 'args',
          operator: 'Inspect',
          operatorParameters: [
            { name: 'value', operator: 'Greater', value: '1.5', useScaledValue: true },
            { name: 'to', operator: 'Equals any (ignore case)', value: ['0xA', 'b'] },
            {
              name: 'order.x',
              operator: 'Inspect',
              operatorParameters: [{ name: '0', operator: 'Less or Equal', value: '7' }],
            },
          ],
        },
        { name: 'blockNumber.num', operator: 'Greater or Equal', value: '0x10', operatorParameters: null },
      ),
      [
        compare('event', ['event'], 'Transfer'),
        compare('event', ['args', 'value'], '', {
          how: 'greater',
          operands: [{ text: '1.5', number: { digits: 15n, scale: 1 } }],
          scaled: true,
        }),
        compare('event', ['args', 'to'], '', {
          ignoreCase: true,
          operands: [
            { text: '0xA', number: { digits: 10n, scale: 0 } },
            { text: 'b', number: undefined },
          ],
        }),
        compare('event', ['args', 'order.x', '0'], '', {
          how: 'lessOrEqual',
          operands: [{ text: '7', number: { digits: 7n, scale: 0 } }],
        }),
        compare('event', ['blockNumber', 'num'], '', {
          how: 'greaterOrEqual',
          operands: [{ text: '0x10', number: { digits: 16n, scale: 0 } }],
        }),
      ],
    )
  })
})

/** The tree in short. */
const shown = (node: Node): string => {
  switch (node.op) {
    case 'and':
    case 'or':
      return `${node.op}(${node.of.map(shown).join(', ')})`
    case 'not':
      return `not(${shown(node.of)})`
    case 'in':
      return `${node.field.path} in ${node.values.join('|')}`
    case 'range':
      return `${node.field.path} ${Object.entries(node.bounds).map(String)}`
    case 'exists':
      return `${node.field.path} exists`
    case 'nested':
      return `${node.path}{${shown(node.of)}}`
    case 'compare':
      return `compare ${node.steps.join('>')}`
    default:
      return node.op
  }
}

const A = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const HASH = `0x${'ab'.repeat(32)}`
const INSPECTED = (
  name: string,
  operator: RuleCondition['operator'],
  value: string,
  rest: Partial<RuleCondition> = {},
) => ({ name: 'args', operator: 'Inspect', operatorParameters: [{ name, operator, value, ...rest }] }) as RuleCondition

describe('a rule as a query', () => {
  const cases: [TargetType, kind: Kind, RuleCondition, string][] = [
    ['Transaction', 'tx', { name: 'from', operator: 'Equals', value: A }, `from in ${A.toLowerCase()}`],
    ['Transaction', 'tx', { name: 'from', operator: 'Equals', value: A.toLowerCase() }, `from in ${A.toLowerCase()}`],
    ['Transaction', 'tx', { name: 'from.raw', operator: 'Equals', value: A }, `from.raw in ${A}`],
    ['Transaction', 'tx', { name: 'from.raw', operator: 'Equals', value: A.toLowerCase() }, 'none'],
    [
      'Transaction',
      'tx',
      { name: 'from.raw', operator: 'Equals (ignore case)', value: A.toUpperCase() },
      `from in ${A.toLowerCase()}`,
    ],
    ['Transaction', 'tx', { name: 'hash', operator: 'Equals', value: HASH }, `hash in ${HASH}`],
    ['Transaction', 'tx', { name: 'hash', operator: 'Equals', value: HASH.toUpperCase() }, `hash in ${HASH}`],
    ['Transaction', 'tx', { name: 'hash', operator: 'Greater', value: HASH }, 'compare hash'],
    ['Transaction', 'tx', { name: 'status', operator: 'Equals', value: '0' }, 'status in false'],
    ['Transaction', 'tx', { name: 'status', operator: 'Less', value: '2' }, 'status in false|true'],
    ['Transaction', 'tx', { name: 'blockNumber', operator: 'Greater', value: '9.5' }, 'blockNumber.num gte,10'],
    ['Transaction', 'tx', { name: 'blockNumber', operator: 'Less', value: '0' }, 'none'],
    ['Transaction', 'tx', { name: 'blockNumber.num', operator: 'Equals', value: '0x10' }, 'blockNumber.num in 16'],
    [
      'Transaction',
      'tx',
      { name: 'gas', operator: 'Greater or Equal', value: '5' },
      'or(gas.num gte,5, and(gas.raw exists, not(gas.num exists)))',
    ],
    ['Transaction', 'tx', { name: 'gas', operator: 'Less', value: '5' }, 'gas.num lte,4'],
    ['Transaction', 'tx', { name: 'gas', operator: 'Less', value: '1e30' }, 'and(gas.raw exists, compare gas)'],
    [
      'Transaction',
      'tx',
      { name: 'value.coin', operator: 'Greater', value: '1.5' },
      `value.padded gte,0x${1_500_000_000_000_000_001n.toString(16).padStart(64, '0')}`,
    ],
    ['Transaction', 'tx', { name: 'value', operator: 'Greater', value: '1e90' }, 'none'],
    ['Transaction', 'tx', { name: 'value', operator: 'Less', value: '1e90' }, 'value.raw exists'],
    ['Transaction', 'tx', { name: 'value', operator: 'Equals', value: '2e19' }, 'value.raw in 0x1158e460913d00000'],
    ['Transaction', 'tx', { name: 'value', operator: 'Equals', value: 'much' }, 'none'],
    ['Transaction', 'tx', { name: 'v', operator: 'Equals', value: '27' }, 'compare v'],
    [
      'Transaction',
      'tx',
      {
        name: 'accessList',
        operator: 'Inspect',
        operatorParameters: [{ name: 'address', operator: 'Equals', value: A }],
      },
      `accessList.address in ${A.toLowerCase()}`,
    ],
    [
      'Transaction',
      'tx',
      { name: 'accessList.0.address', operator: 'Equals', value: A },
      `and(accessList.address in ${A.toLowerCase()}, compare accessList>0>address)`,
    ],
    ['Block', 'block', { name: 'timestamp', operator: 'Less or Equal', value: '7.9' }, 'timestamp lte,7000'],
    [
      'Log',
      'log',
      { name: 'timestamp', operator: 'Greater', value: '1970-01-01T00:00:07' },
      'timestamp gte,8000,lte,253402300799000',
    ],
    ['Log', 'log', { name: 'topics', operator: 'Equals', value: HASH }, `topics in ${HASH}`],
    ['Event', 'event', { name: 'event', operator: 'Equals', value: 'Transfer' }, 'event.raw in Transfer'],
    ['Event', 'event', { name: 'probability', operator: 'Equals', value: '0.90' }, 'probability in 0.9'],
    ['Event', 'event', { name: 'probability', operator: 'Equals', value: '0.90000000000000000001' }, 'none'],
    [
      'Event',
      'event',
      { name: 'probability', operator: 'Less', value: '0.90000000000000000001' },
      'and(probability lte,0.9, compare probability)',
    ],
    [
      'Event',
      'event',
      { name: 'event', operator: 'Equals (ignore case)', value: 'Transfer' },
      'and(event in transfer, compare event)',
    ],
    ['Event', 'event', { name: 'event', operator: 'Equals', value: 'x'.repeat(300) }, 'compare event'],
    ['Event', 'event', { name: 'event', operator: 'Equals', value: 'x\ud800' }, 'none'],
    [
      'Event',
      'event',
      INSPECTED('to', 'Equals', A),
      `and(args{and(args.name in to, args.value.hex in ${A.toLowerCase()}|0x${Buffer.from(A).toString('hex')})}, compare args>to)`,
    ],
    [
      'Event',
      'event',
      INSPECTED('2', 'Greater', '7'),
      'and(args{and(or(args.name in 2, args.pos in 2), or(args.value.num gte,8, not(args.value.num exists)))}, compare args>2)',
    ],
    [
      'Event',
      'event',
      INSPECTED('value', 'Greater', '7.5', { useScaledValue: true }),
      'and(args{and(args.name in value, args.value.scaled gte,7.5)}, compare args>value)',
    ],
  ]
  for (const [target, kind, condition, expected] of cases)
    it(`${JSON.stringify(condition).slice(0, 100)}`, () => {
      assert.equal(shown(toQuery(kind, lowered(target, condition)!)), expected)
    })

  it('takes all its conditions', () => {
    const conditions = lowered(
      'Transaction',
      { name: 'from', operator: 'Equals', value: A },
      { name: 'blockNumber', operator: 'Greater', value: '5' },
      { name: 'blockNumber', operator: 'Less', value: '9' },
    )!
    assert.equal(shown(toQuery('tx', conditions)), `and(from in ${A.toLowerCase()}, blockNumber.num gte,6,lte,8)`)
  })
})

describe('names of attributes', () => {
  const cases: [TargetType, string[], string | undefined][] = [
    ['Transaction', ['from'], undefined],
    ['Transaction', ['value.coin'], undefined],
    ['Transaction', ['value', 'coin'], undefined],
    ['Transaction', ['accessList', '0', 'address'], undefined],
    ['Log', ['topics', '1'], undefined],
    ['Event', ['args', 'whatever', '\ud800'], undefined],
    ['Event', ['args.to'], undefined],
    ['Trace', ['anything'], 'A trace has no attribute "anything" to compare.'],
    ['Trace', ['action.from'], undefined],
    ['Trace', ['action', 'from', 'raw'], undefined],
    ['Trace', ['trace', 'action', 'to'], undefined],
    ['Trace', ['trace', 'result', 'gasUsed.num'], undefined],
    ['Trace', ['trace.action', 'value.coin'], undefined],
    ['Trace', ['trace', 'type'], undefined],
    [
      'Trace',
      ['trace', 'action', 'too'],
      'A trace has no attribute "action.too" to compare. Did you mean "action.to"?',
    ],
    ['Trace', ['trace'], 'A trace has no attribute "trace" to compare.'],
    ['Transaction', ['trace', 'action', 'to'], 'A transaction has no attribute "trace.action.to" to compare.'],
    ['Call', ['anything'], 'A call has no attribute "anything" to compare.'],
    ['Method', ['method'], undefined],
    ['Contract', ['anything'], 'A contract has no attribute "anything" to compare.'],
    ['Contract', ['abi', 'source'], undefined],
    ['Token', ['firstSeen'], undefined],
    ['Transaction', ['form'], 'A transaction has no attribute "form" to compare. Did you mean "from"?'],
    [
      'Transaction',
      ['blockNumber', 'nums'],
      'A transaction has no attribute "blockNumber.nums" to compare. Did you mean "blockNumber.num"?',
    ],
    [
      'Transaction',
      ['accessList'],
      'A transaction has no attribute "accessList" to compare. It is a list of objects: name accessList.address or accessList.storageKeys.',
    ],
    [
      'Event',
      ['args'],
      'An event has no attribute "args" to compare. Use Inspect to reach one of its elements, or an argument by its name.',
    ],
    ['Block', ['__proto__'], 'A block has no attribute "__proto__" to compare.'],
    ['Log', [''], 'A log has no attribute "" to compare.'],
    ['Log', ['x'.repeat(100_000)], `A log has no attribute "${'x'.repeat(99)}…" to compare.`],
  ]
  for (const [target, names, expected] of cases)
    it(names.join(' > ').slice(0, 40), () => assert.equal(checkAttribute(target, names), expected))
})
