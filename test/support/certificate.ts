import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CertificateFiles {
  cert: string
  key: string
}

/** A certificate for `name` that signs itself, by OpenSSL, as files in a folder. */
export const makeCertificate = (folder: string, name: string, days = '2'): CertificateFiles => {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`]
  const out = ['-keyout', files.key, '-out', files.cert]
  // A config file of the machine may have extensions of its own.
  const config = join(folder, 'openssl.cnf')
  writeFileSync(config, '[req]\ndistinguished_name=dn\n[dn]\n')
  execFileSync('openssl', ['req', '-x509', '-config', config, ...curve, '-days', days, ...subject, ...out], {
    stdio: 'pipe',
  })
  return files
}
