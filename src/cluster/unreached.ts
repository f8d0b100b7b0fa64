import { messageOf } from '../lib/errors.ts'

/** Why a node could not be asked, and what to do about it where the reason tells. */
export const whyUnreached = (error: unknown, urls: readonly string[]): string => {
  const inner = innerOf(error)
  const code = String((inner as { code?: unknown } | undefined)?.code)
  const remedy = REMEDIES.find(([codes]) => codes.includes(code))?.[1]
  if (remedy) return remedy
  const message = messageOf(inner)
  // A node that speaks TLS closes the connection of one that does not.
  const isPlain = code === 'UND_ERR_SOCKET' && urls.some(url => url.startsWith('http:'))
  return isPlain ? `${message}. If it speaks TLS, write opensearch-url with https` : message
}

/** Where a name has several addresses, what failed at the first one tells as much as all of them. */
const innerOf = (error: unknown): unknown => (error instanceof AggregateError ? (error.errors[0] ?? error) : error)

const REMEDIES: readonly [codes: readonly string[], text: string][] = [
  [
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    'no authority that is known signed its certificate: name the certificate of the one that did as opensearch-ca',
  ],
  [['CERT_HAS_EXPIRED'], 'its certificate, or that of its authority, has expired: renew it'],
  [['CERT_NOT_YET_VALID'], 'its certificate is not valid yet: check the clocks of both machines'],
  [
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
    'its certificate has other names: write opensearch-url with one of them, or give the node a certificate with this one',
  ],
  [
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'],
    'it does not speak TLS: write opensearch-url with http, or turn on TLS there',
  ],
]
