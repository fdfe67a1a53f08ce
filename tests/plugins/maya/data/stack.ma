//Maya ASCII 2026 scene
//Name: stack.ma
//Codeset: UTF-8
requires maya "2026";
requires -nodeType "materialxStack" -nodeType "MaterialXSurfaceShader" -dataType "MxDocumentStackData"
		 "LookdevXMaya" "1.8.0";
currentUnit -l centimeter -a degree -t film;
fileInfo "application" "maya";
fileInfo "product" "Maya 2026";
fileInfo "version" "2026";
createNode transform -n "materialXStack1";
	rename -uid "2C3B3A40-0000-4000-8000-000000000001";
createNode materialxStack -n "materialXStackShape1" -p "materialXStack1";
	rename -uid "2C3B3A40-0000-4000-8000-000000000002";
	setAttr -k off ".v";
	setAttr ".docs" -type "string" "[\n    {\n        \"document\": \"AAACQnicdZJNb4MwDIbv/IrI54mPIU2bBPTS8y79AZFHzIoUEpSPqvv3hUKqEcElimP7eeXXqU73QbIbGdtrVUOR5nBqkmpAR6ZHef+fKj+hSRirrEMl0AhuvemwJaZwoBri5wKY+xvnxBLbKwoywJQWJKir4fvM4x6+rZ3lJsFejd6tKj9oibdaahPwz6AEdkPppzBPv95Ynn7MxzuwbIcxkEOpyNqA6KRG9yIU+112pNZLNNxo/3s9bs/TcgVUWTzf4t9yDx6v+EsovUT2hbrIuS1kz6rI98NlHK4vDLGVmr5H9vofTfIA9mrC2w==\",\n        \"name\": \"document1\"\n    },\n    {\n        \"document\": \"AAADSnicrVNLboMwEN1zCmsOEBplVQnIpt1GvYE1wEAtGWPZJiK3L3ZM27iQVXfzfZ+xXJznQbIrGStGVcLx8ALnKisGdGQEyvl36/QKrBOStKFOzCVAlTFWiAF7YgoHKkGLxk2GgLmbXtJmlKM5AVNjSy11JVzeeBjnseMBPITSk4sQnmDd97GvAruinDy+RKEOWvXAAoLV2Cxla/qaO5rv3HmQlQeiEI6aFNe14XYy3bIQmdLycaWNuf3Elsyj+nSHP85u+KnRRrtbV0nOFqWnLKEa4/VlIvyHXPIVee1t6UhM7TrdvU3Ulsi4S3OoWjRtcuDwWjtU+XNPP3v/5ynKeeZjU877oN3tjxyPU+Tf/6TKvgCSZCBV\",\n        \"name\": \"document2\"\n    },\n    {\n        \"document\": \"AAABlHicdVBLCoMwEN17imHWxQ9S6ELtpsu2V5CpjlRIjMQPevvGYEoVuwnMy+P9kuskBYysu1o1KUZ+iNfMSyT1rGsS0+9XfMHMA0geNNPzlguSL9Y9NCQ5RWlAB0UI/dwasBt0RQV3bypZIzSq5JKrFLcK+Za2eBiXumkHJ14oobQTtUeMMJIYzBn65xOEfmQfhMBGDLYOFltdXLVVeiHm911uxznKsuv0t+jhLGu6XRQzePBdPPM+yHyGeQ==\",\n        \"name\": \"document3\"\n    }\n]\n";
createNode MaterialXSurfaceShader -n "Standard_Surface1";
	rename -uid "2C3B3A40-0000-4000-8000-000000000003";
	setAttr ".up" -type "string" "|materialXStack1|materialXStackShape1,%document1%Standard_Surface1";
createNode shadingEngine -n "Standard_Surface1SG";
	rename -uid "2C3B3A40-0000-4000-8000-000000000004";
	setAttr ".ihi" 0;
	setAttr ".ro" yes;
connectAttr "Standard_Surface1.oc" "Standard_Surface1SG.ss";
// End of stack.ma
