// node report.mjs OUT.js: writes the script of the interactive plots in reports. The same inputs give the same bytes.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const uplot = join(here, "node_modules/uplot");
const { version } = JSON.parse(readFileSync(join(uplot, "package.json"), "utf8"));
const licence = readFileSync(join(uplot, "LICENSE"), "utf8").trim();

/** The script as one text. */
export async function script() {
  const css = readFileSync(join(uplot, "dist/uPlot.min.css"), "utf8").trim();
  const { outputFiles } = await build({
    entryPoints: [join(here, "src/explore.ts")],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    // The library's style comes with the script, since without the script nothing needs it.
    footer: {
      js:
        'document.head.append(Object.assign(document.createElement("style"),' +
        `{textContent:${JSON.stringify(css)}}));`,
    },
    write: false,
    logLevel: "warning",
  });
  const notice =
    "/* Interactive plots of reports: made by crates/front/web/page/report.mjs; do not edit. " +
    `Contains uPlot ${version}:\n\n${licence}\n*/\n`;
  return notice + outputFiles[0].text.trim().replaceAll("</script", "<\\/script") + "\n";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out] = process.argv.slice(2);
  writeFileSync(`${out}.part`, await script());
  renameSync(`${out}.part`, out);
}
