import { type MESSAGE_FORMS, type MESSAGE_NAMES, MESSAGE_TOKEN, tokenPath } from '../rules/check-alerts.ts'
import { asToken, encodedInteger, followPath, isEncoded, withList } from '../rules/notify/values.ts'
import type { AlertMessage } from './channels/channel.ts'
import type { AlertLinks } from './links.ts'
import { cutText, MAX_SHOWN_VALUE, plainLine, plainLines } from './text.ts'

/** What a rule's `message` says of an alert. Each token is replaced once; values have no tokens. */
export const fillMessage = (template: string, message: AlertMessage, state: string, links: AlertLinks): string => {
  const values = withList(message.source, message.targetType)
  const names: Record<(typeof MESSAGE_NAMES)[number], () => string | undefined> = {
    $rule: () => message.rule.name,
    $network: () => message.network,
    $state: () => state,
    $block: () => String(message.entity.blockNumber),
    $alert: () => message.id,
    $console: () => links.console(message),
    $explorer: () => links.explorer(message),
  }
  return plainLines(template)
    .replace(MESSAGE_TOKEN, (_, token: string, form?: (typeof MESSAGE_FORMS)[number], decimals?: string) => {
      // Our own links and words are not cut.
      if (Object.hasOwn(names, token)) return plainLine(names[token as keyof typeof names]() ?? '')
      const value = followPath(values, tokenPath(token))
      const text = shownText(asToken(value))
      if (form === 'units') return inUnits(value, decimals === undefined ? undefined : Number(decimals))
      if (form === 'explorer') return links.explorerOf(message.network, text) ?? text
      return form === 'short' ? shortenHex(text) : text
    })
    .trim()
}

/** A link of the chain's is text: nobody should follow it by accident. */
const shownText = (text: string): string => cutText(plainLine(text), MAX_SHOWN_VALUE).replaceAll('://', ':\u200b//')

const shortenHex = (text: string): string =>
  text.replace(/0x[\da-f]{40,}/gi, hex => `${hex.slice(0, 6)}…${hex.slice(-4)}`)

/** An amount in units of its token, or in coins: exact, as `1,250,000.5`. Without decimals, an integer. */
const inUnits = (value: unknown, decimals: number | undefined): string => {
  const integer = isEncoded(value) ? encodedInteger(value) : /^-?\d+$/.exec(asToken(value))?.[0]
  if (integer === undefined) return shownText(asToken(value))
  const places = decimals ?? (isEncoded(value) ? decimalsFrom(integer, value.scaled ?? value.coin) : undefined) ?? 0
  const [, sign, digits] = /^(-?)(\d+)$/.exec(integer)!
  const padded = digits!.padStart(places + 1, '0')
  const end = padded.length - places
  const fraction = padded.slice(end).replace(/0+$/, '')
  return `${sign}${padded.slice(0, end).replace(/\B(?=(\d{3})+$)/g, ',')}${fraction && `.${fraction}`}`
}

/** Documents have the amount twice; their ratio is the power of ten between them. */
const decimalsFrom = (integer: string, units: unknown): number | undefined => {
  const scaled = Number(asToken(units ?? undefined) || Number.NaN)
  return Number.isFinite(scaled) && scaled !== 0 ? Math.round(Math.log10(Number(integer) / scaled)) : undefined
}
