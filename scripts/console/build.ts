import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'

/**
 * Builds the console to `dist/console.pack`, which bundle and executable serve: a line of JSON that lists the files, and their bytes,
 * each compressed by Brotli and by gzip.
 */
export interface Packed {
  /** The page, with `{root}` for the way from its address to that of the console. */
  page: string
  files: PackedFile[]
}

interface PackedFile {
  name: string
  type: string
  /** Bytes before compression, and after. */
  size: number
  br: number
  gzip: number
}

export const PACK = 'dist/console.pack'

export const buildConsole = async (version: string): Promise<Packed> => {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: 'src/console/main.tsx', style: 'src/console/style/index.css' },
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    target: ['chrome123', 'firefox135', 'safari18.4'],
    tsconfig: 'src/console/tsconfig.json',
    outdir: 'console',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    define: { CHAINSIEVE_VERSION: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
  })
  const parts = outputFiles.map(({ path, contents }) => {
    const br = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length } })
    const name = basename(path)
    return { name, size: contents.length, br, gzip: gzipSync(contents, { level: 9 }) }
  })
  const files = parts.map(({ name, size, br, gzip }) => ({
    ...{ name, type: name.endsWith('.css') ? 'text/css' : 'text/javascript' },
    ...{ size, br: br.length, gzip: gzip.length },
  }))
  const packed: Packed = { page: pageOf(metafile), files }
  mkdirSync('dist', { recursive: true })
  const head = Buffer.from(`${JSON.stringify(packed)}\n`)
  // Servers may read it meanwhile.
  const aside = `${PACK}.${process.pid}`
  writeFileSync(aside, Buffer.concat([head, ...parts.flatMap(({ br, gzip }) => [br, gzip])]))
  renameSync(aside, PACK)
  return packed
}

/** What the script imports at once is fetched beside it. */
const pageOf = ({ outputs }: Metafile): string => {
  const nameOf = (path: string) => `assets/${basename(relative('.', path))}`
  const entry = (source: string) => Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source)!
  const [script, { imports }] = entry('src/console/main.tsx')
  const [style] = entry('src/console/style/index.css')
  const preload = imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="{root}${nameOf(path)}">`)
    .join('\n')
  return readFileSync('src/console/index.html', 'utf8')
    .replace('{style}', nameOf(style))
    .replace('{preload}', preload)
    .replace('{script}', nameOf(script))
}
