import { createHmac } from 'node:crypto'

/**
 * `webhook-signature` of Standard Webhooks 1.0: one `v1,` signature for each secret, so that receivers which know only the old or
 * only the new one can both check. `seconds` is the `webhook-timestamp`.
 */
export const sign = (secrets: readonly string[], id: string, seconds: number, body: string): string =>
  secrets
    .map(secret => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`)
    .join(' ')

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
