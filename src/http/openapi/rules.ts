import { CHANNELS, type Parameter } from '../../rules/channels.ts'
import { OPERATORS, type Operator } from '../../rules/rule.ts'
import { closed, flag, listOf, oneOf, orNull, ref, type Schema, text } from './schema.ts'

const link: Schema = { ...text, format: 'uri' }

const HELD_SCHEMAS: Record<Parameter['holds'], Schema> = { url: link, addresses: listOf(text), text, name: text }

/** Each with its parameters, all of which it must have. */
const action: Schema = {
  oneOf: Object.entries<Record<string, Parameter>>(CHANNELS).map(([type, parameters]) => {
    const held = Object.entries(parameters).map(([name, { holds }]) => [name, HELD_SCHEMAS[holds]])
    return closed(
      { type: { const: type }, parameters: closed(Object.fromEntries(held)) },
      { payload: listOf(ref('PayloadField')) },
    )
  }),
}

const LIST_OPERATORS: readonly Operator[] = ['Equals any', 'Equals any (ignore case)']
const TEXT_OPERATORS = OPERATORS.filter(it => it !== 'Inspect' && !LIST_OPERATORS.includes(it))
const COMPARES = { useScaledValue: flag, operatorParameters: { type: 'null' } }

const condition: Schema = {
  oneOf: [
    closed({ name: text, operator: oneOf(TEXT_OPERATORS), value: text }, COMPARES),
    closed({ name: text, operator: oneOf(LIST_OPERATORS), value: listOf(text) }, COMPARES),
    closed(
      { name: text, operator: { const: 'Inspect' }, operatorParameters: listOf(ref('Condition')) },
      { useScaledValue: flag, value: orNull(text) },
    ),
  ],
}

/** What of a rule's text is described by what its check knows. */
export const ruleSchemas = (): Record<string, Schema> => ({
  Condition: condition,
  Action: action,
  PayloadField: {
    oneOf: [
      closed({ fieldType: { const: 'Field' }, fieldName: text }, { subPayloads: { type: 'null' } }),
      closed({ fieldType: { const: 'Sub Field' }, fieldName: text, subPayloads: listOf(ref('PayloadField')) }),
    ],
  },
})
