import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { PLATFORMS } from '../executable/platforms.ts'

interface Component {
  'bom-ref': string
  name?: string
  type?: string
  scope?: string
  properties?: { name: string }[]
}

export interface Bom {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** What the released files are made of, in the form of CycloneDX: what npm says of the packages that the bundler takes, the Nodes, and each platform's sqlite-vec. */
export const componentsOf = async (): Promise<Bom> => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  const names = [...(await bundled()), ...Object.values(PLATFORMS).flatMap(({ node, vectors }) => [node, vectors])]
  return narrowed(npmSbom(), new Set(names.map(name => `${name}@${packages[`node_modules/${name}`]!.version}`)))
}

/** The packages whose files the program holds; none of them has another version beside it. */
const bundled = async (): Promise<Set<string>> => {
  const common = { bundle: true, outdir: 'dist', write: false, metafile: true, logLevel: 'error' } as const
  const [program, pages] = await Promise.all([
    build({
      ...common,
      entryPoints: ['src/main.ts'],
      platform: 'node',
      format: 'cjs',
      logOverride: { 'empty-import-meta': 'silent' },
    }),
    build({
      ...common,
      entryPoints: ['src/console/main.tsx'],
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    }),
  ])
  const paths = [program, pages].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  return new Set(paths.flatMap(path => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
}

/** Offline: all of it stands in the lock. */
const npmSbom = (): Bom => {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--workspaces=false']
  const { status, error, stdout, stderr } = spawnSync('npm', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  })
  if (error) throw error
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}: ${stderr}`)
  return JSON.parse(stdout) as Bom
}

/** `shipped`: name and version of each package. */
export const narrowed = (bom: Bom, shipped: ReadonlySet<string>): Bom => {
  const components = bom.components
    .filter(component => shipped.has(component['bom-ref']))
    // To npm they are dependencies of development alone, since the program already holds them.
    .map(({ properties = [], ...rest }) => ({
      ...rest,
      scope: 'required',
      properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
    }))
  const program = bom.metadata.component
  const refs = new Set([program, ...components].map(component => component['bom-ref']))
  return {
    ...bom,
    // npm calls it by the name of the folder.
    metadata: { ...bom.metadata, component: { ...program, name: 'chainsieve', type: 'application' } },
    components,
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(on => refs.has(on)) })),
  }
}
