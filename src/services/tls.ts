import type { Config } from '../config/index.ts'
import type { Certificate } from '../http/tls.ts'
import { stop } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

/** The certificate of the server; undefined where it speaks plain HTTP. */
export const openTls = async ({ tlsCert, tlsKey }: Config, log: Log): Promise<Certificate | undefined> => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw stop('tls_incomplete', 'TLS needs a certificate and its key: give both --tls-cert and --tls-key')
  const { openCertificate } = await import('../http/tls.ts')
  return openCertificate({ cert: tlsCert, key: tlsKey }, { log })
}
