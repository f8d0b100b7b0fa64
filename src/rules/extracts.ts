import { didYouMean } from '../lib/nearest.ts'
import { cut } from '../query/cut.ts'
import { attributesOf, leadsToAttribute, NAMES, TARGET_KINDS } from './attributes.ts'
import type { PayloadItem, RuleInput } from './rule.ts'

/** A token of a URL, such as `{transactionHash}` or `{args.value}`. */
export const TOKEN: RegExp = /\{([\w$.]+)\}/g

/** What the rule asks to be sent and its entities never have, each in a sentence. It is left out of what is sent. */
export const missingExtracts = ({ config: { targetType, alerts } }: RuleInput): string[] => {
  const kind = TARGET_KINDS[targetType]
  if (kind === undefined) return []
  const missing = (name: string, what: string) =>
    leadsToAttribute(kind, name)
      ? []
      : [
          `${NAMES[kind]} has no "${cut(name)}", which ${what} names: it will be left out.${didYouMean(cut(name), attributesOf(kind))}`,
        ]
  const ofPayload = (items: readonly PayloadItem[], around: string, what: string): string[] =>
    items.flatMap(({ fieldName, subPayloads }) => {
      const found = missing(around + fieldName, what)
      return found.length > 0 ? found : ofPayload(subPayloads ?? [], `${around}${fieldName}.`, what)
    })
  return alerts.flatMap(({ parameters, payload = [] }, index) => [
    ...('url' in parameters
      ? [...parameters.url.matchAll(TOKEN)].flatMap(([, name]) => missing(name!, `the URL of alerts[${index}]`))
      : []),
    ...ofPayload(payload, '', `the payload of alerts[${index}]`),
  ])
}
