import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * `webhook-signature` of Standard Webhooks 1.0: one `v1,` signature per secret, for receivers with
 * the old or the new one. `seconds` is the `webhook-timestamp`.
 */
export const sign = (secrets: readonly string[], id: string, seconds: number, body: string): string =>
  secrets
    .map(secret => `v1,${createHmac('sha256', secretKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`)
    .join(' ')

const secretKey = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** Headers by lower-case name. */
type WebhookHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Allowed clock difference and delay, in seconds. */
const TOLERANCE = 300

/** Fault of a Standard Webhooks 1.0 signature; undefined if valid. `now`: epoch milliseconds. */
export const signatureFault = (
  headers: WebhookHeaders,
  body: string,
  { secret, now }: { secret: string; now: number },
): string | undefined => {
  const [id, timestamp, signatures] = SIGNATURE_HEADERS.map(name => headers[name])
  const missing = SIGNATURE_HEADERS.filter(name => typeof headers[name] !== 'string' || headers[name] === '')
  if (missing.length > 0) return `it has no ${missing.join(' and no ')} header`
  if (!/^\d{1,15}$/.test(String(timestamp)))
    return `its webhook-timestamp ${JSON.stringify(timestamp)} is not in seconds`
  const late = Math.round(now / 1_000 - Number(timestamp))
  if (Math.abs(late) > TOLERANCE)
    return `its webhook-timestamp is ${Math.abs(late)} s ${late > 0 ? 'old' : 'ahead'}, and ${TOLERANCE} s are allowed`
  const given = String(signatures).split(' ')
  const known = given.filter(it => it.startsWith('v1,'))
  if (known.length === 0) return 'its webhook-signature has no signature of version v1'
  const due = Buffer.from(sign([secret], String(id), Number(timestamp), body))
  const isDue = (text: string) => {
    const bytes = Buffer.from(text)
    return bytes.length === due.length && timingSafeEqual(bytes, due)
  }
  return known.some(isDue) ? undefined : 'its webhook-signature is not that of this body and this secret'
}

const SIGNATURE_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

export const isSigningSecret = (text: string): boolean => /^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/.test(text)
