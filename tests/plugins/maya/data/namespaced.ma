//Maya ASCII 2026 scene
//Name: namespaced.ma
//Codeset: UTF-8
requires maya "2026";
requires -nodeType "materialxStack" -nodeType "MaterialXSurfaceShader" -dataType "MxDocumentStackData"
		 "LookdevXMaya" "1.8.0";
currentUnit -l centimeter -a degree -t film;
fileInfo "application" "maya";
fileInfo "product" "Maya 2026";
fileInfo "version" "2026";
createNode transform -name "myTable:materialXStack1";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000001";
createNode materialxStack -name "myTable:materialXStackShape1" -parent "myTable:materialXStack1";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000002";
	setAttr -keyable off ".visibility";
	setAttr ".documents" -type "string" "[\n    {\n        \"name\": \"document3\",\n        \"document\": \"AAAB1XicdVFND4IwDL3zK5qeDR8SDiZ8XDx79Ugqm0oCG9nA4L93DGdk0Uuz7rV9r695NfcdPLjSrRQFJmGMVRnkPY1ctdTN31B6QGhkJ5UeqOEFmqCbG5YBQK5HEowUq/WkrgYAQb0p8b8ThPE5LMCa6zsxrhCEZJzxa4GnY+331Nvahc4QtmKYxjfLhTSvrTI33iYpwoO6yaRxmO0gDvc2JvsMIbKqI59r3WV9Ow/eJGcpmRvvIE/4tu+XUm/tv178dc/p3lKZi0Wfk5XBC0cJn44=\"\n    },\n    {\n        \"name\": \"document6\",\n        \"document\": \"AAABu3icdVHLCoMwELz7Fcueiw+khYKPS49tf0G2GlshPkhU9O8bU1M0tJeFSWZnZnejdKo5jEzIqm1iDFwf08SJauqZqIhP26/wjJC3vBWyo5zFqIrMn5g4ANGNZrpfMk71g4keGqoVYUUBQj93CstBlEvTiwomEJq2YAUrY9w3Z3vaIq8MqqYbjK4OYUQ1CBFG4oOCvns8gO8GuiB4Op23d9Bvq4uZdJVeiNn1QzsZC8PZRFZilsCvoNbAf7dgr2tNbTmou3jfwyTOG+OMlEI=\"\n    }\n]";
createNode transform -name "materialXStack1";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000003";
createNode materialxStack -name "materialXStackShape1" -parent "materialXStack1";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000004";
	setAttr -keyable off ".visibility";
	setAttr ".documents" -type "string" "[\n    {\n        \"name\": \"document3\",\n        \"document\": \"AAAB0nicdVG7DoMwDNz5CstzxaNMlXgsnbt2RC4JLRIkKAFE/77hkapEZbFsn+0720k+tQ2MXOlaihQjP8Q885KWeq5qaqZfKL4glLKRSndU8hSN0eUTMw8g0T0JRooVelCVAUBQa0rcdITQv7sZWGP9IsYVgpCMM16leLsWbk+xr53pDGEtuqHfWB6kebEos+OXIEYYqRlMGPrRCUL/PBuTDRbJgUu0LrL69gAbw11KZmdbyFG97/sn09n58BCHp7O691TmXcH3X5n3AcTnnvA=\"\n    }\n]";
createNode MaterialXSurfaceShader -name "myTable:Wood";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000011";
	setAttr ".ufePath" -type "string" "|materialXStack1|materialXStackShape1,%document3%:myTable:Wood";
createNode shadingEngine -name "myTable:WoodSG";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000021";
	setAttr ".isHistoricallyInteresting" 0;
	setAttr ".renderableOnlySet" yes;
createNode MaterialXSurfaceShader -name "myTable:Maya_Lambert6";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000012";
	setAttr ".ufePath" -type "string" "|materialXStack1|materialXStackShape1,%document6%:myTable:Maya_Lambert6";
createNode shadingEngine -name "myTable:Maya_Lambert6SG";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000022";
	setAttr ".isHistoricallyInteresting" 0;
	setAttr ".renderableOnlySet" yes;
createNode MaterialXSurfaceShader -name "Wood1";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000013";
	setAttr ".ufePath" -type "string" "|myTable:materialXStack1|myTable:materialXStackShape1,%document3%Wood";
createNode shadingEngine -name "Wood1SG";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000023";
	setAttr ".isHistoricallyInteresting" 0;
	setAttr ".renderableOnlySet" yes;
createNode MaterialXSurfaceShader -name "Wood2";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000014";
	setAttr ".ufePath" -type "string" "|myTable:materialXStack1|myTable:materialXStackShape1,%document3%Wood";
createNode shadingEngine -name "Wood2SG";
	rename -uuid "8D0E5A10-0000-4000-8000-000000000024";
	setAttr ".isHistoricallyInteresting" 0;
	setAttr ".renderableOnlySet" yes;
connectAttr "myTable:Wood.outColor" "myTable:WoodSG.surfaceShader";
connectAttr "myTable:Maya_Lambert6.outColor" "myTable:Maya_Lambert6SG.surfaceShader";
connectAttr "Wood1.outColor" "Wood1SG.surfaceShader";
connectAttr "Wood2.outColor" "Wood2SG.surfaceShader";
// End of namespaced.ma
