import { didYouMean } from '../lib/edit-distance.ts'
import { MAPPING } from '../mapping/index.ts'
import { shortenText } from '../query/json.ts'
import { attributesOf, leadsToAttribute } from './attributes.ts'
import { type PayloadItem, type RuleInput, TARGET_KINDS } from './rule.ts'

/** A token of a URL, such as `{transactionHash}` or `{args.value}`. */
export const URL_TOKEN: RegExp = /\{([\w$.]+)\}/g

/** Names in a rule's URLs and payloads that its entities never have, each in a sentence. */
export const missingExtracts = ({ config: { targetType, alerts } }: RuleInput, most = 20): string[] => {
  const kind = TARGET_KINDS[targetType]
  const found: string[] = []
  const look = (name: string, what: string): boolean => {
    if (leadsToAttribute(kind, name)) return true
    if (found.length < most)
      found.push(
        `${MAPPING[kind].name} has no "${shortenText(name)}", which ${what} names: it will be left out.${didYouMean(shortenText(name), attributesOf(kind))}`,
      )
    return false
  }
  const lookInPayload = (items: readonly PayloadItem[], around: string, what: string) => {
    for (const { fieldName, subPayloads } of items)
      if (look(around + fieldName, what)) lookInPayload(subPayloads ?? [], `${around}${fieldName}.`, what)
  }
  for (const [index, { parameters, payload = [] }] of alerts.entries()) {
    if ('url' in parameters)
      for (const name of new Set([...parameters.url.matchAll(URL_TOKEN)].map(([, name]) => name!)))
        look(name, `the URL of alerts[${index}]`)
    lookInPayload(payload, '', `the payload of alerts[${index}]`)
  }
  return found
}
