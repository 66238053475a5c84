import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { codeEntries, type Package, sourceCondition } from '../tests/support/tools/packages/packages.ts';

const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, noLib: true };
const kept = /@(?:experimental|deprecated)\b/g;

/**
 * Returns what a package offers to TypeScript, by the name of the package: the declaration of every public name, entry by entry, and of what these name
 * but no entry exports. Of the doc comments only the marks `@experimental` and `@deprecated` are left, so what changes a report changes a program.
 * It reads only sources, because every declaration can be made from its file alone (`isolatedDeclarations`).
 */
export function reportsOfApi(packages: readonly Pick<Package, 'folder' | 'manifest'>[]): Map<string, string> {
  const entries = new Map(
    packages.flatMap(({ folder, manifest }) =>
      codeEntries(manifest).map(([path, entry]) => [
        manifest.name + path.slice(1),
        join(folder, entry[sourceCondition] ?? ''),
      ]),
    ),
  );
  const program = ts.createProgram([...entries.values()], options, hostOf(entries));
  const checker = program.getTypeChecker();
  return new Map(
    packages
      .filter(({ manifest }) => codeEntries(manifest).length > 0)
      .map(({ folder, manifest: { name } }) => {
        const own = [...entries].filter(([specifier]) => specifier === name || specifier.startsWith(`${name}/`));
        return [name, reportOf(name, join(folder, 'src/'), own, program, checker)];
      }),
  );
}

function reportOf(
  name: string,
  folder: string,
  entries: readonly (readonly [specifier: string, file: string])[],
  program: ts.Program,
  checker: ts.TypeChecker,
): string {
  const places = new Map<ts.Symbol, string>();
  const named = new Set<ts.Symbol>();
  const declarationsOf = (symbol: ts.Symbol): string[] => {
    const nodes = new Set((symbol.declarations ?? []).map(statementOf).filter((node) => node !== undefined));
    for (const node of nodes) for (const other of symbolsIn(node, checker)) named.add(other);
    return [...nodes].map(textOf);
  };
  const isOwn = (symbol: ts.Symbol) =>
    symbol.declarations?.some((node) => node.getSourceFile().fileName.startsWith(folder)) ?? false;

  const parts = entries.map(([specifier, file]) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${specifier} exports nothing.`);
    const exports = checker.getExportsOfModule(module).sort((one, other) => (one.name < other.name ? -1 : 1));
    const texts = exports.flatMap((exported) => {
      const symbol = resolved(exported, checker);
      if (!isOwn(symbol)) return [exported.declarations?.[0]?.parent.parent.getText() ?? exported.name];
      const place = places.get(symbol);
      if (place) return [`export { ${exported.name} }; // ${place}`];
      places.set(symbol, specifier);
      const declarations = declarationsOf(symbol);
      return exported.name === symbol.name
        ? declarations
        : [...declarations, `export { ${symbol.name} as ${exported.name} };`];
    });
    return partOf(specifier, texts, /^\s*(\/\*\* .*? \*\/)/.exec(source.text)?.[1]);
  });
  const hidden: [name: string, text: string][] = [];
  // The set grows while it is read.
  for (const symbol of named) {
    if (places.has(symbol) || !isOwn(symbol)) continue;
    for (const text of declarationsOf(symbol)) hidden.push([symbol.name, text.replace(/^export /m, '')]);
  }
  hidden.sort(([one], [other]) => (one < other ? -1 : 1));
  if (hidden.length > 0)
    parts.push(
      partOf(
        'Named by these, but exported by none',
        hidden.map(([, text]) => text),
      ),
    );
  return `# The API of ${name}\n\nMade by \`pnpm fix\` from the sources.\n\n${parts.join('\n')}`;
}

function partOf(title: string, texts: readonly string[], mark?: string): string {
  return `## ${title}\n\n\`\`\`ts\n${[...(mark ? [mark] : []), ...texts].join('\n\n')}\n\`\`\`\n`;
}

/** The statement that a report shows for a declaration. Undefined for a part of one, such as a member or a type parameter. */
function statementOf(node: ts.Declaration): ts.Statement | undefined {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return ts.isSourceFile(statement.parent) && !ts.isSourceFile(statement)
    ? (statement as unknown as ts.Statement)
    : undefined;
}

/** With its mark, and without what is private. */
function textOf(statement: ts.Statement): string {
  const mark = ts.getJSDocCommentsAndTags(statement).map((comment) => `${comment.getText()}\n`);
  const lines = statement.getText().split('\n');
  return (
    mark.join('') +
    lines
      .filter((line) => line.trim() !== '' && !/^ {4}private /.test(line))
      .join('\n')
      .replace(/^(?:export )?(?:declare )?/, 'export ')
  );
}

function symbolsIn(statement: ts.Node, checker: ts.TypeChecker): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (symbol) found.push(resolved(symbol, checker));
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return found;
}

function resolved(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Gives the compiler the declarations of each source file instead of the file. It does not look at packages of others. */
function hostOf(entries: ReadonlyMap<string, string>): ts.CompilerHost {
  const resolve = (name: string, from: string): string | undefined =>
    name.startsWith('.') ? join(dirname(from), name) : entries.get(name);
  return {
    ...ts.createCompilerHost(options),
    getSourceFile: (name, languageVersion) =>
      ts.createSourceFile(name, declarations(name, readFileSync(name, 'utf8')), languageVersion, true),
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => {
        const resolvedFileName = resolve(text, from);
        return { resolvedModule: resolvedFileName ? { resolvedFileName, extension: '.ts' } : undefined };
      }),
  };
}

function declarations(fileName: string, source: string): string {
  const { outputText } = ts.transpileDeclaration(source, { fileName, compilerOptions: options });
  return outputText.replace(/\/\*\*[\s\S]*?\*\//g, (comment) => {
    const marks = comment.match(kept);
    return marks ? `/** ${[...new Set(marks)].join(' ')} */` : '';
  });
}
