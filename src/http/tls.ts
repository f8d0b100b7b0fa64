import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf, stop } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

export interface CertificateFiles {
  /** PEM certificates, the server's first. */
  cert: string
  key: string
}

/** Contents of the files, and the oldest TLS version. */
interface Pair {
  cert: Buffer
  key: Buffer
  minVersion: 'TLSv1.2'
}

/** A certificate whose files may be replaced while the server runs. */
export interface Certificate {
  current(): Pair
  /** Watches the files, and reports a new certificate. */
  follow(use: (pair: Pair) => void): { reload(): void; stop(): void }
}

const CERTIFICATE_LOOK_MS = 2_000
/** Failed looks before an error, since certificate and key are not replaced at the same moment. */
const FAILURES_BEFORE_ERROR = 3

interface CertificateOptions {
  log: Log
  lookMs?: number
}

/** Refuses files that cannot run a server. */
export const openCertificate = (
  files: CertificateFiles,
  { log, lookMs = CERTIFICATE_LOOK_MS }: CertificateOptions,
): Certificate => {
  let pair = readPair(files)
  warnOfEnd(pair, files, log)

  return {
    current: () => pair,
    follow(use) {
      let tried = digestOf(pair)
      let failures = 0
      let refused: { digest: string; error: unknown } | undefined
      const look = (isAsked: boolean) => {
        try {
          const found = readFiles(files)
          const digest = digestOf(found)
          // Does not retry a pair that failed: checking it can delay a handshake.
          if (digest === refused?.digest) throw refused.error
          try {
            checkPair(found, files)
          } catch (error) {
            refused = { digest, error }
            throw error
          }
          failures = 0
          if (digest === tried && !isAsked) return
          tried = digest
          pair = found
          use(pair)
          log.info('Took the TLS certificate', { file: files.cert, until: certificateEnd(pair) })
          warnOfEnd(pair, files, log)
        } catch (error) {
          failures++
          if (isAsked || failures === FAILURES_BEFORE_ERROR) log.error('Kept the old TLS certificate', { error })
        }
      }
      const timer = setInterval(() => look(false), lookMs).unref()
      return { reload: () => look(true), stop: () => clearInterval(timer) }
    },
  }
}

const readPair = (files: CertificateFiles): Pair => {
  const pair = readFiles(files)
  checkPair(pair, files)
  return pair
}

const readFiles = (files: CertificateFiles): Pair => ({
  cert: readTlsFile(files.cert, 'certificate', '--tls-cert'),
  key: readTlsFile(files.key, 'key', '--tls-key'),
  minVersion: 'TLSv1.2',
})

const checkPair = (pair: Pair, files: CertificateFiles) => {
  try {
    createSecureContext({ ...pair })
  } catch (error) {
    throw stop(
      'tls_unusable',
      `${files.cert} and ${files.key} cannot be used for TLS (${messageOf(error)}): --tls-cert takes a certificate in PEM with its chain, --tls-key the private key of that certificate, in PEM and not encrypted.`,
      error,
    )
  }
}

const readTlsFile = (file: string, what: string, flag: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    throw stop('tls_unreadable', `The TLS ${what} of ${flag} cannot be read: ${messageOf(error)}.`, error)
  }
}

const digestOf = ({ cert, key }: Pair): string => createHash('sha256').update(cert).update(key).digest('hex')

const certificateEnd = ({ cert }: Pair): string => new Date(new X509Certificate(cert).validTo).toISOString()

const warnOfEnd = (pair: Pair, { cert }: CertificateFiles, log: Log) => {
  const until = certificateEnd(pair)
  if (Date.parse(until) <= Date.now()) log.warn('The TLS certificate has expired', { file: cert, until })
}
