import { RECEIVERS } from '../../rules/check-alerts.ts'
import { OPERATORS, type Operator } from '../../rules/rule.ts'
import { closed, flag, listOf, oneOf, orNull, ref, type Schema, text } from './schema.ts'

const link: Schema = { ...text, format: 'uri' }

const PARAMETERS: Record<string, Schema> = { url: link, recipients: listOf(text), text, channel: text, username: text }

/** Each with the parameters that the check knows. */
const action: Schema = {
  oneOf: RECEIVERS.map(({ type, parameters }) =>
    closed(
      {
        type: { const: type },
        parameters: closed(Object.fromEntries(parameters.map(name => [name, PARAMETERS[name] ?? text]))),
      },
      { payload: listOf(ref('PayloadField')) },
    ),
  ),
}

const WITH_LIST: readonly Operator[] = ['Equals any', 'Equals any (ignore case)']
const WITH_TEXT = OPERATORS.filter(it => it !== 'Inspect' && !WITH_LIST.includes(it))
const COMPARES = { useScaledValue: flag, operatorParameters: { type: 'null' } }

const condition: Schema = {
  oneOf: [
    closed({ name: text, operator: oneOf(WITH_TEXT), value: text }, COMPARES),
    closed({ name: text, operator: oneOf(WITH_LIST), value: listOf(text) }, COMPARES),
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
